# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A private apt: its own sources, lists and cache, in the tests' cache directory. Sourced by
# scripts/kernels and scripts/peer. It reads Debian trixie and trixie-backports, whatever the host
# is, and touches nothing of the host's own apt.

SEAM_CACHE=${SEAM_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/seam-tests}
apt_root=$SEAM_CACHE/apt
apt_mirror=${SEAM_MIRROR:-http://deb.debian.org/debian}
apt_keyring=${SEAM_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

fail() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# In CI nobody sees a download crawl, so what is done is said, on stderr: stdout is for paths.
say() {
	echo "${0##*/}: $*" >&2
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install ${need_package[$tool]:-$tool}"
	done
}
declare -A need_package=([apt-get]=apt [apt-cache]=apt [dpkg-deb]=dpkg [flock]=util-linux)

private_apt() {
	local command=$1
	shift
	"$command" -q -o Dir::State="$apt_root/state" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$apt_root/cache" -o Dir::Etc::sourcelist="$apt_root/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences="$apt_root/preferences" \
		-o Dir::Etc::preferencesparts=/dev/null -o APT::Architecture=amd64 \
		-o APT::Architectures=amd64 -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=60 \
		-o Dpkg::Use-Pty=0 "$@"
}

# Package lists older than a day may name packages that the mirror has dropped.
apt_root_open() {
	need apt-get apt-cache dpkg-deb
	[ -r "$apt_keyring" ] ||
		fail "$apt_keyring is missing: apt-get install debian-archive-keyring"
	mkdir -p "$apt_root"/{state/lists/partial,cache/archives/partial}
	printf 'deb [signed-by=%s] %s %s main\n' "$apt_keyring" "$apt_mirror" trixie \
		"$apt_keyring" "$apt_mirror" trixie-backports >"$apt_root/sources.list"
	: >"$apt_root/preferences"
	if [ -n "$(find "$apt_root/fresh" -mmin -1440 2>/dev/null)" ]; then
		return
	fi
	say "reading the package lists of $apt_mirror"
	private_apt apt-get update >"$apt_root/log" 2>&1 ||
		fail "apt-get update failed: $(tail -n 3 "$apt_root/log")"
	# apt-get answers a mirror that cannot be reached with a warning and exit 0.
	if ! private_apt apt-cache show base-files >/dev/null 2>&1; then
		fail "no package lists from $apt_mirror: $(tail -n 3 "$apt_root/log")"
	fi
	touch "$apt_root/fresh"
}

# One run at a time works on the cache: parallel test jobs wait instead of unpacking over each other.
cache_lock() {
	need flock
	mkdir -p "$SEAM_CACHE"
	exec 9>"$SEAM_CACHE/lock"
	flock 9
}
