// SPDX-License-Identifier: MIT
/*
 * container.c: see container.h.
 *
 * Files are the runtimes' own and JSON; of that, strings behind a few keys are looked for. In sound
 * JSON a quoted key with a colon behind it is nothing but a key, because a quote within a string
 * has a backslash in front; in unsound JSON the worst is a wrong label. What is read is bounded,
 * and values may be anything.
 */
#include "fleet/container.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTAINER_FILE_MOST (1u << 20) /* bytes of a runtime's file */
#define CONTAINER_LINKS_MOST 20000u    /* of the kubelet */
#define CONTAINER_VALUE 512u
#define CONTAINER_DIGEST 12u /* digits shown */

/* Where runtimes keep what they know of a container that runs; %s: root, id. */
static const char *const container_files[] = {
	"%s/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
	"%s/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
	"%s/run/containerd/io.containerd.runtime.v2.task/moby/%s/config.json",
	"%s/run/containerd/io.containerd.runtime.v2.task/default/%s/config.json",
	"%s/run/containers/storage/overlay-containers/%s/userdata/config.json",
	"%s/var/lib/docker/containers/%s/config.v2.json",
};

/* By which keys runtimes call what becomes a label; the first that is there holds. */
static const struct container_key {
	const char *label, *key;
} container_keys[] = {
	{ "namespace", "io.kubernetes.cri.sandbox-namespace" },
	{ "namespace", "io.kubernetes.pod.namespace" },
	{ "pod", "io.kubernetes.cri.sandbox-name" },
	{ "pod", "io.kubernetes.pod.name" },
	{ "container_name", "io.kubernetes.cri.container-name" },
	{ "container_name", "io.kubernetes.container.name" },
	{ "container_name", "nerdctl/name" },
	{ "image", "io.kubernetes.cri.image-name" },
	{ "image", "io.kubernetes.cri-o.ImageName" },
	{ "image", "io.container.image" },
	{ "image", "Image" }, /* Docker's: twice, once as a digest */
};

/* "cri-containerd-ID.scope", "docker-ID.scope", "ID": so many digits, alone or behind a dash. */
static bool container_part(const char *name, size_t n, char id[CONTAINER_ID + 1])
{
	const char *from;

	if (n > 6 && !memcmp(name + n - 6, ".scope", 6))
		n -= 6;
	if (n < CONTAINER_ID)
		return false;
	from = name + n - CONTAINER_ID;
	if (from > name && from[-1] != '-')
		return false;
	if (strspn(from, "0123456789abcdef") < CONTAINER_ID)
		return false;
	memcpy(id, from, CONTAINER_ID);
	id[CONTAINER_ID] = 0;
	return true;
}

/* Goes down the path: the last one holds. */
bool container_id(const char *path, char id[CONTAINER_ID + 1])
{
	bool found = false;

	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		found |= container_part(path, n, id);
	}
	return found;
}

/* ---- JSON ---- */

/* The string behind a key, its escapes undone. False: there is none. *at: where to look from, and
 * then where to go on. */
static bool container_string(const char *text, const char *key, const char **at, char *ret,
                             size_t size)
{
	size_t n = strlen(key);

	for (const char *p = *at; (p = strstr(p, key)); p++) {
		const char *v = p + n;
		size_t i = 0;

		if (p == text || p[-1] != '"' || *v++ != '"')
			continue;
		v += strspn(v, " \t\r\n");
		if (*v++ != ':')
			continue;
		v += strspn(v, " \t\r\n");
		if (*v++ != '"')
			continue;
		for (; *v && *v != '"' && i + 1 < size; v++) {
			/* Names have no other escapes; \u stays as it is written. */
			if (*v == '\\' && v[1] && v[1] != 'u')
				v++;
			ret[i++] = *v;
		}
		ret[i] = 0;
		*at = v;
		return true;
	}
	return false;
}

/* Sets the labels for which a runtime's file has a key. */
static int container_json(struct labels *l, const char *text)
{
	const char *last = "";
	int r = 0;

	for (size_t i = 0; i < sizeof(container_keys) / sizeof(container_keys[0]) && r >= 0; i++) {
		const struct container_key *k = &container_keys[i];
		char value[CONTAINER_VALUE];
		const char *at = text;

		if (!strcmp(k->label, last) ||
		    !container_string(text, k->key, &at, value, sizeof(value)))
			continue;
		last = k->label;
		/* Docker's "Image" at the top is the digest of what "Image" in Config names. */
		while (!strncmp(value, "sha256:", 7) &&
		       container_string(text, k->key, &at, value, sizeof(value)))
			;
		r = labels_set(l, k->label, value);
	}
	return r;
}

/* The text of a file, to be freed; NULL: it is not here, or too large. */
static char *container_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = fd < 0 ? NULL : malloc(CONTAINER_FILE_MOST + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (text && got > 0 && n < CONTAINER_FILE_MOST) {
		got = read(fd, text + n, CONTAINER_FILE_MOST - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[n] = 0;
	return text;
}

/* ---- the kubelet's links ---- */

/* "POD_NAMESPACE_NAME-ID.log" as three labels. Names of Kubernetes have no '_' in them. */
static int container_link(struct labels *l, char *name, size_t n)
{
	char *namespace, *container;
	int r;

	name[n] = 0;
	namespace = strchr(name, '_');
	container = namespace ? strchr(namespace + 1, '_') : NULL;
	if (!container)
		return 0;
	*namespace ++ = 0;
	*container++ = 0;
	r = labels_set(l, "pod", name);
	if (r >= 0)
		r = labels_set(l, "namespace", namespace);
	return r < 0 ? r : labels_set(l, "container_name", container);
}

/* Looks for the container's link. */
static int container_links(struct labels *l, const char *root, const char *id)
{
	char path[4096], end[CONTAINER_ID + 8];
	size_t seen = 0, n_end = (size_t)snprintf(end, sizeof(end), "-%s.log", id);
	struct dirent *e;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "%s/var/log/containers", root);
	dir = opendir(path);
	while (dir && r == 0 && seen++ < CONTAINER_LINKS_MOST && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n <= n_end || strcmp(e->d_name + n - n_end, end) != 0)
			continue;
		r = container_link(l, e->d_name, n - n_end);
		break;
	}
	if (dir)
		closedir(dir);
	return r;
}

/* What a runtime says comes over what the kubelet's links say: it also knows the image. */
int container_labels(struct labels *l, const char *root, const char *id)
{
	int r = container_links(l, root, id);

	for (size_t i = 0; i < sizeof(container_files) / sizeof(container_files[0]) && r >= 0;
	     i++) {
		char path[4096], *text;

		snprintf(path, sizeof(path), container_files[i], root, id);
		text = container_read(path);
		if (!text)
			continue;
		r = container_json(l, text);
		free(text);
		break;
	}
	return r;
}

/* What is behind the last colon, unless that is a port of a registry; else the digest's digits. */
void container_version(const char *image, char *ret, size_t n)
{
	const char *digest = strstr(image, "@sha256:"), *slash = strrchr(image, '/');
	size_t length = digest ? (size_t)(digest - image) : strlen(image);
	const char *colon = memrchr(image, ':', length);

	ret[0] = 0;
	if (colon && (!slash || colon > slash || slash > image + length))
		snprintf(ret, n, "%.*s", (int)(image + length - colon - 1), colon + 1);
	else if (digest)
		snprintf(ret, n, "%.*s", (int)CONTAINER_DIGEST, digest + strlen("@sha256:"));
}
