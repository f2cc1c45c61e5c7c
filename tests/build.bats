# What `make` makes.

load helpers

# A copy of what a build needs; with its commit as a release tarball has it.
setup() {
  common_setup
  source_folder=${helpers_folder%/*}
  for folder in first second/deeper; do
    mkdir -p "$folder"
    cp -r "$source_folder"/{Makefile,src} "$folder"
    echo 0123456789abcdef >"$folder/.commit"
  done
  # Of `make check` itself.
  unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES BUILD STATIC SANITIZE
  unset CC CFLAGS CPPFLAGS LDFLAGS
}

build() { make -s -C "$@" >build.log 2>&1 || { cat build.log >&2 && return 1; }; }

@test "build: the binary is static and stripped" {
  requires readelf
  build first
  run readelf -lW first/build/foster
  is "$status" 0
  [[ $output != *INTERP* && $output != *DYNAMIC* ]]
  run readelf -SW first/build/foster
  [[ $output != *.symtab* && $output != *.debug* ]]
}

@test "build: no writable and executable memory, no executable stack" {
  requires readelf
  build first
  run readelf -lW first/build/foster
  [[ $output == *GNU_STACK* ]]
  [[ ! $output =~ GNU_STACK[^$'\n']*RWE && ! $output =~ LOAD[^$'\n']*RWE ]]
}

@test "build: the same bits in any folder, and at any time" {
  build first
  build second/deeper
  cmp first/build/foster second/deeper/build/foster
  # By another user, in another language and time zone, in parallel.
  mkdir third
  cp -r second/deeper/{Makefile,src,.commit} third
  find third -exec touch -d 2001-01-01 {} +
  local nobody=(unshare -U --map-user=65534 --map-group=65534)
  "${nobody[@]}" true 2>/dev/null || nobody=()
  LC_ALL=tr_TR.UTF-8 LANGUAGE=tr TZ=Asia/Tokyo HOME=/nonexistent \
    "${nobody[@]}" sh -c 'umask 077 && make -s -j4 -C third'
  cmp first/build/foster third/build/foster
  # Also with debug information, which names files.
  build first CFLAGS='-O2 -g' BUILD=other
  build second/deeper CFLAGS='-O2 -g' BUILD=other
  cmp first/other/foster.full second/deeper/other/foster.full
}

@test "build: CC, CFLAGS, CPPFLAGS and LDFLAGS are honoured" {
  # Given as a packager does it: from the environment, and by name.
  cat >compiler <<'END'
#!/bin/sh
echo "$@" >>"$LOG"
exec cc "$@"
END
  chmod +x compiler
  export LOG=$PWD/log
  CC=$PWD/compiler CFLAGS='-O1 -DWITH_CFLAGS' CPPFLAGS=-DWITH_CPPFLAGS \
    LDFLAGS=-Wl,-O1 build first
  grep -- '-DWITH_CPPFLAGS.* -O1 -DWITH_CFLAGS.* -c .*main.c' log
  grep -- '-Wl,-O1' log
  run grep -- '-O[sz]' log
  is "$status" 1
  first/build/foster true
  rm log
  build second/deeper CC="$PWD/compiler" CFLAGS='-O1 -DWITH_CFLAGS' \
    CPPFLAGS=-DWITH_CPPFLAGS LDFLAGS=-Wl,-O1
  grep -- '-DWITH_CPPFLAGS.* -O1 -DWITH_CFLAGS.* -c .*main.c' log
  grep -- '-Wl,-O1' log
}

@test "build: STATIC=0 is dynamic, and works" {
  requires readelf
  build first STATIC=0 CC=cc
  [[ $(readelf -lW first/build/foster) == *INTERP* ]]
  run first/build/foster sh -c 'exit 4'
  is "$status" 4
}

@test "build: it says which libc" {
  requires musl-gcc
  run make --no-print-directory -C first CC=musl-gcc
  matches "${lines[-1]}" 'bytes, musl, static$'
}

@test "build: other flags or another commit build anew, nothing else does" {
  build first
  run make -s -q -C first build/foster
  # The stamps are looked at each time; what counts is that nothing is compiled.
  run make --no-print-directory -C first
  [[ $output != *" -c "* ]]
  echo fedcba9876 >first/.commit
  run make --no-print-directory -C first
  [[ $output == *" -c -o build/obj/texts.o "* ]]
  [[ $output != *" -c -o build/obj/loop.o "* ]]
  run first/build/foster --version
  matches "$output" 'git\.fedcba9$'
  run make --no-print-directory -C first CFLAGS=-O1
  [[ $output == *" -c -o build/obj/loop.o "* ]]
  touch first/src/log.h
  run make --no-print-directory -C first CFLAGS=-O1
  [[ $output == *" -c -o build/obj/log.o "* ]]
}

@test "build: the version is what dockerd can parse" {
  build first
  run first/build/foster --version
  is "$status" 0
  is "$output" "tini version 1.0.0-foster - git.0123456"
  rm first/.commit
  build first
  run first/build/foster --version
  is "$output" "tini version 1.0.0-foster"
}

@test "build: seven digits of the commit, from git" {
  requires git
  rm first/.commit
  git -C first init -q
  git -C first add .
  git -C first -c user.name=a -c user.email=a@example.org commit -q -m first
  build first
  run first/build/foster --version
  is "$output" \
    "tini version 1.0.0-foster - git.$(git -C first rev-parse HEAD | cut -c1-7)"
}

@test "build: install puts the binary and the manual page where they belong" {
  build first install PREFIX=/opt/foster DESTDIR="$PWD/root"
  is "$(cd root && find . -type f | sort)" \
    $'./opt/foster/bin/foster\n./opt/foster/share/man/man1/foster.1'
  is "$(stat -c %a root/opt/foster/bin/foster)" 755
  is "$(stat -c %a root/opt/foster/share/man/man1/foster.1)" 644
  cmp root/opt/foster/bin/foster first/build/foster
}

@test "build: it needs no empty working folder to be rebuilt after clean" {
  build first
  build first clean
  [[ ! -e first/build ]]
  build first
  [[ -x first/build/foster ]]
}

@test "build: DEPS=0 installs nothing, and names what is missing" {
  mkdir -p first/tests bin
  cp "$source_folder/tests/setup" first/tests
  # A machine with hardly anything.
  local tool
  for tool in sh cat id grep stat; do
    ln -s "$(command -v "$tool")" bin
  done
  printf '#!/bin/sh\necho "$0 $*" >>%q\n' "$PWD/installed" >bin/apt-get
  chmod +x bin/apt-get
  PATH=$PWD/bin DEPS=0 run sh first/tests/setup check
  is "$status" 1
  matches "$output" '^setup: please run: apt-get install .*bats'
  is "${#lines[@]}" 1
  [[ ! -e installed ]]
}
