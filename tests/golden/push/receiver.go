// SPDX-License-Identifier: MIT

// The receiver of OpenTelemetry's collector on an address for HTTP and one for gRPC: what each request has is printed as its own packages read it. A line for each
// resource, then for each profile, and for its leaves.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

type printer struct{ lock *sync.Mutex }

func (printer) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// The innermost function of a stack; every index on the way is one of its table, else it panics.
func leaf(d pprofile.ProfilesDictionary, s pprofile.Sample) string {
	name := "-"
	for i, at := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
		location := d.LocationTable().At(int(at))
		d.StringTable().At(int(d.MappingTable().At(int(location.MappingIndex())).FilenameStrindex()))
		for j, line := range location.Lines().All() {
			function := d.StringTable().At(int(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex()))
			if i == 0 && j == 0 {
				name = function
			}
		}
	}
	return name
}

func (p printer) ConsumeProfiles(_ context.Context, all pprofile.Profiles) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	d := all.Dictionary()
	for _, resource := range all.ResourceProfiles().All() {
		for key, value := range resource.Resource().Attributes().All() {
			fmt.Printf("resource %q %q\n", key, value.AsString())
		}
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				sums := map[string]int64{}
				for _, sample := range profile.Samples().All() {
					for _, value := range sample.Values().All() {
						sums[leaf(d, sample)] += value
					}
				}
				fmt.Printf("profile %q %q %d\n", d.StringTable().At(int(profile.SampleType().TypeStrindex())),
					d.StringTable().At(int(profile.SampleType().UnitStrindex())), profile.DurationNano())
				for name, sum := range sums {
					fmt.Printf("leaf %d %q\n", sum, name)
				}
			}
		}
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	factory := otlpreceiver.NewFactory().(xreceiver.Factory)
	config := factory.CreateDefaultConfig()
	protocols := map[string]any{"http": map[string]any{"endpoint": os.Args[1]}, "grpc": map[string]any{"endpoint": os.Args[2]}}
	must(confmap.NewFromStringMap(map[string]any{"protocols": protocols}).Unmarshal(config))
	settings := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo: component.NewDefaultBuildInfo()}
	profiles, err := factory.CreateProfiles(context.Background(), settings, config, printer{&sync.Mutex{}})
	must(err)
	must(profiles.Start(context.Background(), componenttest.NewNopHost()))
	fmt.Println("ready")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	must(profiles.Shutdown(context.Background()))
}
