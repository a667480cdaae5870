// SPDX-License-Identifier: MIT
/*
 * metrics_text.c: see metrics.h: the words that are served. Names end as Prometheus wants them:
 * _total for sums, the unit in front of it. They are stable: names may be added, none goes.
 */
#include <stdio.h>
#include <string.h>

#include "agent/metrics.h"

#define LATE_WINDOWS 3u /* without one for so long, something is wrong */

/* The value of a label: Prometheus escapes three characters. A password in a URL is left out. */
static void metrics_url(struct buf *out, const char *url)
{
	const char *host = strstr(url, "://"), *at = NULL;

	if (host) {
		host += 3;
		at = memrchr(host, '@', strcspn(host, "/?#"));
	}
	for (const char *c = url; *c; c++) {
		if (at && c == host)
			c = at + 1;
		/* What stands behind a question mark may be a token. */
		if (host && *c == '?')
			break;
		if (*c == '\\' || *c == '"' || *c == '\n')
			buf_put_text(out, "\\");
		buf_printf(out, "%c", *c == '\n' ? 'n' : *c);
	}
}

/* The two lines in front of a value, and the value where it has no labels. */
static void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metrics_number(struct buf *out, const char *name, const char *type, const char *help,
                           uint64_t value)
{
	metrics_head(out, name, type, help);
	buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void metrics_seconds(struct buf *out, const char *name, const char *type, const char *help,
                            uint64_t ns)
{
	metrics_head(out, name, type, help);
	buf_printf(out, "%s %llu.%09llu\n", name, (unsigned long long)(ns / 1000000000),
	           (unsigned long long)(ns % 1000000000));
}

/* One value of each store. */
static void metrics_stores(struct buf *out, const struct metrics_values *v, const char *name,
                           const char *type, const char *help, size_t offset)
{
	metrics_head(out, name, type, help);
	for (size_t i = 0; i < v->n_stores; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&v->stores[i] + offset, sizeof(value));
		buf_printf(out, "%s{store=\"", name);
		metrics_url(out, v->stores[i].url);
		buf_printf(out, "\"} %llu\n", (unsigned long long)value);
	}
}

/* Everything, in the text form that Prometheus reads. */
void metrics_text(const struct metrics_values *v, struct buf *out)
{
	metrics_head(out, "seam_agent_info", "gauge", "the version of the agent");
	buf_printf(out, "seam_agent_info{version=\"%s\"} 1\n", v->version ? v->version : "");
	metrics_number(out, "seam_agent_windows_total", "counter", "windows made", v->windows);
	metrics_number(out, "seam_agent_samples_total", "counter", "samples taken", v->samples);
	metrics_number(out, "seam_agent_lost_records_total", "counter",
	               "records that the kernel lost or skipped", v->lost);
	metrics_number(out, "seam_agent_dropped_samples_total", "counter",
	               "samples for which a window had no room", v->dropped);
	metrics_number(out, "seam_agent_rate_hertz", "gauge", "samples per second and CPU",
	               v->rate_hz);
	metrics_number(out, "seam_agent_asked_rate_hertz", "gauge", "the rate that is asked for",
	               v->asked_hz);
	metrics_number(out, "seam_agent_rate_changes_total", "counter",
	               "how often the rate was changed for the budget", v->restarts);
	metrics_seconds(out, "seam_agent_cpu_seconds_total", "counter", "CPU time of the agent",
	                v->cpu_ns);
	metrics_number(out, "seam_agent_resident_memory_bytes", "gauge", "memory of the agent",
	               v->memory);
	metrics_number(out, "seam_agent_resident_memory_max_bytes", "gauge",
	               "the most memory that the agent has had", v->memory_peak);
	metrics_number(out, "seam_agent_memory_limit_bytes", "gauge",
	               "memory that the agent may have; 0: no limit", v->memory_limit);
	metrics_number(out, "seam_agent_memory_refused_total", "counter",
	               "times that large names or debugging information had to wait for memory",
	               v->refused);
	metrics_number(out, "seam_agent_held_total", "counter",
	               "times that a process kept who reads its memory waiting", v->held);
	metrics_number(out, "seam_agent_followed_processes", "gauge",
	               "processes whose mappings are followed", v->processes);
	metrics_number(out, "seam_agent_table_bytes", "gauge", "memory of unwind tables",
	               v->table_bytes);
	metrics_number(out, "seam_agent_names_bytes", "gauge",
	               "memory of names and lines that serve the next window, too", v->names_bytes);
	metrics_number(out, "seam_agent_large_objects", "gauge",
	               "objects without lines, as their debugging information is too large",
	               v->too_large);
	metrics_seconds(out, "seam_agent_last_window_timestamp_seconds", "gauge",
	                "when the last window ended", v->last_ns);
	metrics_stores(out, v, "seam_agent_store_windows_total", "counter",
	               "windows that a store took", offsetof(struct metrics_store, windows));
	metrics_stores(out, v, "seam_agent_store_lost_windows_total", "counter",
	               "windows that a store did not take", offsetof(struct metrics_store, lost));
	metrics_stores(out, v, "seam_agent_store_lost_samples", "gauge",
	               "samples lost that the store was not told of yet",
	               offsetof(struct metrics_store, lost_samples));
}

/* Well is an agent that made a window lately, all of whose stores took it. */
bool metrics_health(const struct metrics_values *v, uint64_t now_ns, struct buf *out)
{
	bool is_well = true;

	if (v->last_ns && now_ns > v->last_ns && v->window_ns &&
	    (now_ns - v->last_ns) / v->window_ns >= LATE_WINDOWS) {
		buf_printf(out, "no window since %llu s\n",
		           (unsigned long long)((now_ns - v->last_ns) / 1000000000));
		is_well = false;
	}
	for (size_t i = 0; i < v->n_stores; i++) {
		if (!v->stores[i].failing)
			continue;
		metrics_url(out, v->stores[i].url);
		buf_put_text(out, " cannot be written\n");
		is_well = false;
	}
	if (is_well)
		buf_put_text(out, v->last_ns ? "ok\n" : "ok: no window yet\n");
	return is_well;
}
