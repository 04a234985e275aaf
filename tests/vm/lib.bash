# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts of this folder: where the rig keeps things, and how a program is put into a guest's root.
# shellcheck shell=bash disable=SC2034 # what is set here is used by those who read this

RIG=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$RIG/../.." && pwd)
RIG_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ipcstall

# Exit codes of the rig. A command that ran to its end in a guest passes its own through.
EX_SKIP=77	# the kernel cannot be had
EX_BOOT=120	# the guest did not get as far as the command
EX_PANIC=121
EX_OOPS=122
EX_LOST=123	# the guest stopped while the command ran, and left no word why
EX_TIMEOUT=124
EX_RIG=125	# bad usage, or something missing on this side

die() {
	echo "${0##*/}: $*" >&2
	exit "$EX_RIG"
}

# need PROGRAM PACKAGE: end, saying what to install, where a program is missing.
need() {
	command -v "$1" >/dev/null || die "$1 is missing: install the package $2"
}

# --- Debian ---------------------------------------------------------------------------------------------------------

DEBIAN_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

# Where the machine's own apt takes packages from: URI, release and component, one source a line.
machine_sources() {
	# shellcheck disable=SC2016 # the $(...) are apt's own
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null
}

# The URI of its Debian release. Security, updates and third-party sources have other release names.
machine_mirror() {
	local own
	[[ -z ${IPCSTALL_MIRROR-} ]] || { echo "$IPCSTALL_MIRROR"; return; }
	own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	machine_sources | awk -v own="${own:-none}" '
		$3 == "main" && $2 ~ ("^(" own "|stable|oldstable|oldoldstable|testing|unstable|sid)$") { print $1; exit }'
}

# The machine's own proxy, where its apt has one, for debootstrap's downloads and those within.
machine_proxy() {
	local P=''
	eval "$(apt-config shell P Acquire::http::Proxy 2>/dev/null)"
	echo "${http_proxy:-$P}"
}

# apt.conf for one suite under folder $1: own lists, cache and sources, an empty dpkg status; of $4's architecture.
apt_private() {
	local root=$1 uri=$2 suite=$3 arch=${4:-amd64} option=
	mkdir -p "$root"/{lists/partial,cache/archives/partial}
	: >"$root/status"
	[[ -r $DEBIAN_KEYS ]] && option="[signed-by=$DEBIAN_KEYS] "
	echo "deb $option$uri $suite main" >"$root/sources.list"
	cat >"$root/apt.conf" <<-EOT
	Dir::Etc::SourceList "$root/sources.list";
	Dir::Etc::SourceParts "/dev/null";
	Dir::State::Lists "$root/lists";
	Dir::State::Status "$root/status";
	Dir::Cache "$root/cache";
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Sandbox::User "root";
	APT::Update::Error-Mode "any";
	APT::Update::Post-Invoke-Success "";
	Acquire::Languages "none";
	Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	EOT
}

# --- nothing stays behind -------------------------------------------------------------------------------------------

# start_keeper FOLDER: killed outright, a shell cannot clean up. Its keeper, in a session of its own, waits for its end
# and does.
start_keeper() {
	# shellcheck disable=SC2016 # for the keeper to expand
	setsid bash -c 'tail -s 0.2 --pid="$1" -f /dev/null; rm -rf --one-file-system "$2"' keeper "$$" "$1" \
		</dev/null >/dev/null 2>&1 &
	KEEPER=$!
	disown "$KEEPER" # bash says nothing of its end then
}

# KILL: where the caller ignores SIGTERM, so does the keeper
stop_keeper() { [[ -z ${KEEPER-} ]] || kill -KILL -- "-$KEEPER" 2>/dev/null; }

# --- programs -------------------------------------------------------------------------------------------------------

# The shared libraries and the loader a program names, one path a line; nothing for a script or a static program.
libraries() {
	local said
	said=$(LC_ALL=C ldd "$1" 2>/dev/null) || return 0
	if [[ $said == *'not found'* ]]; then
		die "$1 needs a library that is not here:$(grep -m1 'not found' <<<"$said")"
	fi
	awk '$2 == "=>" && $3 ~ /^\// { print $3; next } $1 ~ /^\// { print $1 }' <<<"$said"
}

is_elf() { [[ $(head -c4 "$1" 2>/dev/null | tr -d '\0') == $'\x7fELF' ]]; }

# put_libraries ROOT FILE: what FILE loads, at the path it has here.
put_libraries() {
	local root=$1 libs lib
	is_elf "$2" || return 0
	libs=$(libraries "$2") || exit
	for lib in $libs; do
		[[ -e $root$lib ]] && continue
		mkdir -p "$root${lib%/*}" && cp -L "$lib" "$root$lib" || return
	done
}

# put_program ROOT FILE DEST
put_program() {
	mkdir -p "$1${3%/*}" && cp -L "$2" "$1$3" && put_libraries "$1" "$2"
}

# pack ROOT: a cpio archive of ROOT on stdout, the same bytes for the same files.
pack() {
	(cd "$1" && find . -mindepth 1 -exec touch -hd @0 {} + &&
		find . -mindepth 1 | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 --reproducible)
}
