# SPDX-License-Identifier: MIT
# pythons.sh: the CPythons of this machine. Sets $peer and $peer_root; `list` has one path a line; in_root says how to run one.
peer=$HERE/../../scripts/peer
peer_root=${SEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/seam-tests}/peer/root

# One of each version and build that is here. Of the peers' roots (scripts/peer), Debian trixie and sid, the interpreters run within:
# as in a container.
pythons() {
	for python in /usr/bin/python3.1[1-5] "$HOME"/.pyenv/versions/3.[89].*/bin/python3 "$HOME"/.pyenv/versions/3.1[0-5].*/bin/python3; do
		[ -x "$python" ] && echo "$python"
	done
	for root in "$peer_root" "${peer_root%/peer/root}/consumers/root"; do
		[ "$(id -u)" -ne 0 ] || for python in "$root"/usr/bin/python3.1[1-5]; do
			[ -x "$python" ] && chroot "$root" "${python#"$root"}" -c 'import asyncio, ctypes, json' 2>err && echo "$python"
		done
	done
}
pythons >list
[ -s list ] || skip "no CPython of 3.8 to 3.15"

# in_root PYTHON PROGRAM: sets `python` and `program` to what is run, and `runs` to the words before them.
in_root() {
	runs='' python=$1 program=$2
	case $1 in
	*/root/usr/bin/*)
		root=${1%/usr/bin/*}
		mkdir -p "$root/tmp"
		program=/tmp/seam-$$-${2##*/}
		cp "$2" "$root$program"
		runs="chroot $root" python=${1#"$root"}
		;;
	esac
}
