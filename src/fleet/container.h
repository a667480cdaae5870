/* SPDX-License-Identifier: MIT */
/*
 * container.h: what the machine's files say of a container: what Kubernetes calls it, and its
 * image. The kubelet's links in /var/log/containers, and what containerd, CRI-O, Podman and Docker
 * keep of each container that runs. No daemon is asked.
 */
#ifndef SEAM_FLEET_CONTAINER_H
#define SEAM_FLEET_CONTAINER_H

#include "base/labels.h"

#define CONTAINER_ID 64u /* hexadecimal digits */

/* The id of the innermost container of a control group's path; false: there is none. */
bool container_id(const char *path, char id[CONTAINER_ID + 1]);
/* Sets namespace, pod, container_name, image, as far as they are known. root: in front of all
 * paths, "" for the machine's own. -ENOMEM, -E2BIG. */
int container_labels(struct labels *l, const char *root, const char *id);
/* The version that an image's name has: "1.4" of "shop/checkout:1.4", digits of a digest; "":
 * none. */
void container_version(const char *image, char *ret, size_t n);

#endif
