// SPDX-License-Identifier: MIT
// fleet_process.c: labels from rules, containers, environments and OpenTelemetry's contexts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/container.h"
#include "fleet/process.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "12345678-1234-1234-1234-123456789abc"

static char root[64];

/* Makes a file and its directories below root. */
static void put(const char *path, const char *text, size_t n)
{
	char full[4096];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *c = full + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = 0;
		mkdir(full, 0755);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

#define PUT(path, text) put(path, text, sizeof(text) - 1)

static void gone(int pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/%d/cgroup", root, pid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc/%d/environ", root, pid);
	unlink(path);
}

static void is(const struct labels *l, const char *key, const char *value)
{
	const char *have = labels_get(l, key);

	if (value)
		assert_string_equal(have ? have : "(none)", value);
	else
		assert_null(have);
}

static void rules_go_by_patterns(void **state)
{
	struct rules r = { 0 };
	struct labels l = { 0 };

	assert_int_equal(rules_add(&r, "service", "shop", "unit=shop-*.service,exe=/opt/*"), 0);
	assert_int_equal(rules_add(&r, "service", "late", "exe=/opt/shop"), 0);
	assert_int_equal(rules_add(&r, "version", "2", "service=shop"), 0);
	assert_int_equal(rules_add(&r, "service", "x", ""), -EINVAL);
	assert_int_equal(rules_add(&r, "service", "x", "unit"), -EINVAL);
	assert_int_equal(rules_add(&r, "service", "", "unit=a"), -EINVAL);
	labels_set(&l, "exe", "/opt/shop");
	assert_int_equal(rules_apply(&r, &l), 0);
	is(&l, "service", "late"); /* there is no unit */
	is(&l, "version", NULL);
	labels_set(&l, "unit", "shop-1.service");
	assert_int_equal(rules_apply(&r, &l), 0);
	is(&l, "service", "shop"); /* the first holds */
	is(&l, "version", "2");
	assert_int_equal(rules_apply(NULL, &l), 0);
	labels_free(&l);
	rules_free(&r);
}

static void containers_have_ids(void **state)
{
	char id[CONTAINER_ID + 1];

	assert_true(container_id("/system.slice/docker-" ID ".scope", id));
	assert_string_equal(id, ID);
	assert_true(container_id("/kubepods/burstable/pod" UID "/" ID, id));
	assert_true(container_id("/kubepods.slice/x.slice/cri-containerd-" ID ".scope/inner", id));
	assert_false(container_id("/a" ID, id));
	assert_false(container_id("/" ID "0x", id));
	assert_false(container_id("/docker-0123.scope", id));
	assert_false(container_id("", id));
}

static void images_have_versions(void **state)
{
	static const char *const cases[][2] = {
		{ "shop/checkout:1.4", "1.4" },
		{ "registry:5000/shop/checkout", "" },
		{ "registry:5000/shop/checkout:v2", "v2" },
		{ "checkout@sha256:0123456789abcdef0123", "0123456789ab" },
		{ "r:5/checkout:1.4@sha256:0123456789abcdef", "1.4" },
		{ "checkout", "" },
		{ "", "" },
		{ ":", "" },
	};
	char version[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		container_version(cases[i][0], version, sizeof(version));
		assert_string_equal(version, cases[i][1]);
	}
}

/* What the kubelet and the runtime say, and what only looks as if they said it. */
static void containers_have_names(void **state)
{
	struct labels l = { 0 };

	PUT("/var/log/containers/web-7_shop_nginx-" ID ".log", "");
	PUT("/var/log/containers/broken-" ID "x.log", "");
	assert_int_equal(container_labels(&l, root, ID), 0);
	is(&l, "pod", "web-7");
	is(&l, "namespace", "shop");
	is(&l, "container_name", "nginx");
	is(&l, "image", NULL);
	PUT("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
	    "{\"env\":[\"A=\\\"io.kubernetes.cri.sandbox-name\\\":\\\"evil\\\"\"],\n"
	    "\"annotations\":{\"io.kubernetes.cri.image-name\" : \"r:5/n\\/ginx:1.25\","
	    "\"io.kubernetes.cri.sandbox-name\":\"web-8\",\"io.kubernetes.cri.container-name\":7}"
	    "}");
	assert_int_equal(container_labels(&l, root, ID), 0);
	is(&l, "pod", "web-8");
	is(&l, "container_name", "nginx");
	is(&l, "image", "r:5/n/ginx:1.25");
	labels_free(&l);
}

/* Docker has one key twice. */
static void docker_names_its_image(void **state)
{
	struct labels l = { 0 };
	char other[] = "f" ID;

	other[CONTAINER_ID] = 0;
	PUT("/var/lib/docker/containers/"
	    "f0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde/config.v2.json",
	    "{\"Image\":\"sha256:00\",\"Config\":{\"Image\":\"redis:7\"}}");
	assert_int_equal(container_labels(&l, root, other), 0);
	is(&l, "image", "redis:7");
	labels_free(&l);
}

static void attributes_are_taken_as_they_are_coded(void **state)
{
	struct labels l = { 0 };

	assert_int_equal(process_attributes(&l, "a=b,service.name=x%20y%2,service.version=1%3"), 0);
	is(&l, "service", "x y%2");
	is(&l, "version", "1%3");
	assert_int_equal(process_attributes(&l, ",,=,service.name,service.name="), 0);
	is(&l, "service", "x y%2");
	labels_free(&l);
}

/* A Resource with two attributes, alone and in a ProcessContext; then every prefix of it. */
static void resources_are_read_and_not_trusted(void **state)
{
	static const char resource[] = "\x0a\x1a\x0a\x0cservice.name\x12\x0a\x0a\x08"
	                               "checkout"
	                               "\x10\x05\x0a\x18\x0a\x0fservice.version\x12\x05\x0a\x03"
	                               "1.4";
	const size_t n = sizeof(resource) - 1;
	char context[128];
	struct labels l = { 0 };

	assert_int_equal(process_resource(&l, resource, n), 0);
	is(&l, "service", "checkout");
	is(&l, "version", "1.4");
	labels_free(&l);
	l = (struct labels){ 0 };
	context[0] = 0x0a;
	context[1] = (char)n;
	memcpy(context + 2, resource, n);
	assert_int_equal(process_resource(&l, context, n + 2), 0);
	is(&l, "service", "checkout");
	labels_free(&l);
	l = (struct labels){ 0 };
	for (size_t i = 0; i < n; i++) {
		char *exact = malloc(i + 1);

		memcpy(exact, resource, i);
		assert_int_equal(process_resource(&l, exact, i), 0);
		free(exact);
	}
	labels_free(&l);
}

/* A process below a root that was made up: the order of what is known. */
static void processes_say_who_they_are(void **state)
{
	struct process_opts o = { .root = root };
	struct process p = { .opts = &o, PROCESS_LOCK };
	struct labels l = { 0 };

	assert_int_equal(rules_add(&o.rules, "version", "9", "env.TIER=g*"), 0);
	PUT("/proc/77/cgroup", "2:cpu:/old\n0::/kubepods/pod" UID "/" ID "\n");
	PUT("/proc/77/environ",
	    "SECRET=1\0TIER=gold\0OTEL_RESOURCE_ATTRIBUTES=service.name=a,service.version=3");
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "pod_uid", UID);
	is(&l, "pod", "web-8");
	is(&l, "namespace", "shop");
	is(&l, "container", "0123456789ab");
	is(&l, "service", "a");
	is(&l, "version", "3"); /* over the image's */
	is(&l, "env.TIER", "gold");
	is(&l, "env.SECRET", NULL);
	/* It is remembered, until it is forgotten. */
	PUT("/proc/77/environ", "OTEL_SERVICE_NAME=b\0OTEL_RESOURCE_ATTRIBUTES=service.name=c");
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "service", "a");
	/* Met in the window before the last, it is kept once more. */
	for (int i = 0; i < 5; i++)
		process_age(&p);
	PUT("/proc/79/cgroup", "0::/early\n");
	assert_int_equal(process_meet(&p, 79), 0);
	process_age(&p);
	PUT("/proc/79/cgroup", "0::/late\n");
	assert_int_equal(process_labels(&p, 79, NULL, &l), 0);
	is(&l, "cgroup", "/early");
	for (int i = 0; i < 6; i++)
		process_age(&p);
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "service", "b");
	/* Another program is asked anew; if it is gone by then, what was known holds. */
	PUT("/proc/77/environ", "OTEL_SERVICE_NAME=d");
	process_replaced(&p, 77);
	assert_int_equal(process_meet(&p, 77), 0);
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "service", "d");
	process_replaced(&p, 77);
	gone(77);
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "service", "d");
	assert_false(process_was_gone(&p, 77));
	/* The number of another process. */
	process_forget(&p, 77);
	labels_free(&l);
	l = (struct labels){ 0 };
	assert_int_equal(process_labels(&p, 77, NULL, &l), 0);
	is(&l, "service", NULL);
	assert_true(process_was_gone(&p, 77));
	/* One that is not there, and what is none. */
	labels_free(&l);
	l = (struct labels){ 0 };
	assert_int_equal(process_labels(&p, 78, NULL, &l), 0);
	assert_int_equal(process_labels(&p, 0, NULL, &l), 0);
	assert_int_equal(l.bytes.n, 0);
	labels_free(&l);
	process_free(&p);
	rules_free(&o.rules);
}

/* This process publishes a context, as the specification says. */
static void contexts_are_found_in_memory(void **state)
{
	static const char resource[] = "\x0a\x1a\x0a\x0cservice.name\x12\x0a\x0a\x08"
	                               "checkout";
	struct head {
		char signature[8];
		uint32_t version, size;
		uint64_t published_ns;
		const void *payload;
	} * h;
	struct process p = { PROCESS_LOCK };
	struct labels l = { 0 };
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	assert_true(fd >= 0 && !ftruncate(fd, 4096));
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(h != MAP_FAILED);
	close(fd);
	*h = (struct head){ .version = 2, .size = sizeof(resource) - 1, .payload = resource };
	memcpy(h->signature, "OTEL_CTX", 8);
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	is(&l, "service", NULL); /* it is being changed */
	process_free(&p);
	h->published_ns = 1;
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	is(&l, "service", "checkout");
	/* One that begins has none: it is looked for when labels are wanted, however soon the
	 * process was met. */
	process_free(&p);
	labels_free(&l);
	l = (struct labels){ 0 };
	h->published_ns = 0;
	assert_int_equal(process_meet(&p, (uint32_t)getpid()), 0);
	h->published_ns = 1;
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	is(&l, "service", "checkout");
	/* And once. */
	h->published_ns = 0;
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	is(&l, "service", "checkout");
	/* Sizes and places that make no sense. */
	process_free(&p);
	h->published_ns = 1;
	h->size = UINT32_MAX;
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	process_free(&p);
	h->size = 100;
	h->payload = (void *)8;
	assert_int_equal(process_labels(&p, (uint32_t)getpid(), NULL, &l), 0);
	process_free(&p);
	labels_free(&l);
	munmap(h, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_go_by_patterns),
		cmocka_unit_test(containers_have_ids),
		cmocka_unit_test(images_have_versions),
		cmocka_unit_test(containers_have_names),
		cmocka_unit_test(docker_names_its_image),
		cmocka_unit_test(attributes_are_taken_as_they_are_coded),
		cmocka_unit_test(resources_are_read_and_not_trusted),
		cmocka_unit_test(processes_say_who_they_are),
		cmocka_unit_test(contexts_are_found_in_memory),
	};
	char remove[80];
	int r;

	unsetenv("OTEL_SERVICE_NAME");
	snprintf(root, sizeof(root), "/tmp/seam-process-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(remove, sizeof(remove), "rm -rf %s", root);
	return system(remove) || r;
}
