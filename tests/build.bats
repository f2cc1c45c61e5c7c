# What `make` makes.

load helpers

source_folder=${helpers_folder%/*}

# A copy of what a build needs; with its commit as a release tarball has it.
copy_source() {
  mkdir -p "$1"
  cp -r "$source_folder"/{Makefile,src} "$1"
  echo 0123456789abcdef >"$1/.commit"
}

# What is unset is of `make check` itself.
forget_make() {
  unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES BUILD STATIC SANITIZE
  unset CC CFLAGS CPPFLAGS LDFLAGS STRIP
}

build() {
  make -s -j2 -C "$@" >build.log 2>&1 || { cat build.log >&2 && return 1; }
}

# A build takes seconds, so there is one for all that only look at it. The other
# tests make first and second/deeper of their own.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  (forget_make && copy_source shared && build shared)
}

setup() {
  common_setup
  shared=$BATS_FILE_TMPDIR/shared
  copy_source first
  forget_make
}

@test "build: the binary is static and stripped" {
  requires readelf
  run readelf -lW "$shared/build/foster"
  is "$status" 0
  [[ $output != *INTERP* && $output != *DYNAMIC* ]]
  run readelf -SW "$shared/build/foster"
  [[ $output != *.symtab* && $output != *.debug* ]]
}

@test "build: no writable and executable memory, no executable stack" {
  requires readelf
  run readelf -lW "$shared/build/foster"
  [[ $output == *GNU_STACK* ]]
  [[ ! $output =~ GNU_STACK[^$'\n']*RWE && ! $output =~ LOAD[^$'\n']*RWE ]]
}

@test "build: the same bits in any folder, and at any time" {
  # By another user, in another language and time zone, in parallel.
  mkdir second
  copy_source second/deeper
  find second -exec touch -d 2001-01-01 {} +
  local nobody=(unshare -U --map-user=65534 --map-group=65534)
  "${nobody[@]}" true 2>/dev/null || nobody=()
  LC_ALL=tr_TR.UTF-8 LANGUAGE=tr TZ=Asia/Tokyo HOME=/nonexistent \
    "${nobody[@]}" sh -c 'umask 077 && make -s -j4 -C second/deeper'
  cmp "$shared/build/foster" second/deeper/build/foster
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
  run make -n -C "$shared" CC="$PWD/compiler" CFLAGS='-O1 -DWITH_CFLAGS' \
    CPPFLAGS=-DWITH_CPPFLAGS LDFLAGS=-Wl,-O1
  matches "$output" \
    'compiler -DWITH_CPPFLAGS.* -O1 -DWITH_CFLAGS [^'$'\n'']*-c [^'$'\n'']*main\.c'
  matches "$output" "compiler [^"$'\n'"]*-Wl,-O1 -o build/foster.full"
}

@test "build: STRIP, and nothing is stripped without it" {
  run make -n -C "$shared" -W src/main.c STRIP=other-strip
  matches "$output" $'\nother-strip -s .*-o build/foster build/foster.full'
  run make -n -C "$shared" -W src/main.c STRIP=
  matches "$output" $'\ncp build/foster.full build/foster\n'
  [[ $output != *strip* ]]
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
  run make -n --no-print-directory -C "$shared" CC=musl-gcc
  matches "$output" $'bytes, musl, \\\\\nstatic"'
  run make -n --no-print-directory -C "$shared" CC=cc STATIC=0
  matches "$output" $'bytes, the libc of cc, \\\\\ndynamic"'
}

@test "build: other flags or another commit build anew, nothing else does" {
  build first CFLAGS=-O0
  export CFLAGS=-O0
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
  run "$shared/build/foster" --version
  is "$status" 0
  is "$output" "tini version 1.0.0-foster - git.0123456"
  rm first/.commit
  build first CFLAGS=-O0
  run first/build/foster --version
  is "$output" "tini version 1.0.0-foster"
}

@test "build: dist: what is committed, in an archive that builds without git" {
  requires git cc
  local commit
  rm first/.commit
  echo /build/ >first/.gitignore
  git -C first init -q
  git -C first add .
  git -C first -c user.name=a -c user.email=a@example.org commit -q -m first
  commit=$(git -C first rev-parse HEAD)
  echo '#error not committed' >>first/src/main.c
  touch first/new
  build first dist-now CC=cc CFLAGS=-O0 ARCHITECTURES=
  grep "release: warning: what is not committed is not in it" build.log
  is "$(cd first/build/dist && echo *)" \
    "SHA256SUMS foster-1.0.0.tar.gz foster-$(uname -m)"
  (cd first/build/dist && sha256sum -c --quiet SHA256SUMS)
  is "$(wc -l <first/build/dist/SHA256SUMS)" 2
  # With seven digits, as all others have it.
  run "first/build/dist/foster-$(uname -m)" --version
  is "$output" "tini version 1.0.0-foster - git.${commit:0:7}"

  tar -xzf first/build/dist/foster-1.0.0.tar.gz
  is "$(<foster-1.0.0/.commit)" "$commit"
  # All that is committed, and nothing else.
  is "$(cd foster-1.0.0 && find . -type f ! -name .commit | sort)" \
    "$(git -C first ls-tree -r --name-only HEAD | sed 's|^|./|' | sort)"
  mkdir bin
  printf '#!/bin/sh\nexit 1\n' >bin/git
  chmod +x bin/git
  PATH=$PWD/bin:$PATH build foster-1.0.0 CC=cc CFLAGS=-O0
  cmp foster-1.0.0/build/foster "first/build/dist/foster-$(uname -m)"

  # From its own folder the same archive comes, without git as well.
  PATH=$PWD/bin:$PATH build foster-1.0.0 dist-now CC=cc CFLAGS=-O0 \
    ARCHITECTURES=
  [[ $(<build.log) != *warning* ]]
  cmp foster-1.0.0/build/dist/foster-1.0.0.tar.gz \
    first/build/dist/foster-1.0.0.tar.gz
}

@test "build: Debian's changelog and foster --version are of one version" {
  run make --no-print-directory -C "$shared" -f - <<<$'include Makefile\nshow: ; @echo $(VERSION)' show
  matches "$(head -n 1 "$shared/src/debian/changelog")" \
    "^foster \\(${lines[-1]//./\\.}-1~upstream\\) unstable;"
}

@test "build: install puts the binary and the manual page where they belong" {
  build "$shared" install PREFIX=/opt/foster DESTDIR="$PWD/root"
  is "$(cd root && find . -type f | sort)" \
    $'./opt/foster/bin/foster\n./opt/foster/share/man/man1/foster.1'
  is "$(stat -c %a root/opt/foster/bin/foster)" 755
  is "$(stat -c %a root/opt/foster/share/man/man1/foster.1)" 644
  cmp root/opt/foster/bin/foster "$shared/build/foster"
}

@test "build: it needs no empty working folder to be rebuilt after clean" {
  mkdir -p first/build/obj
  build first clean
  [[ ! -e first/build ]]
  build first CFLAGS=-O0
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

@test "build: where no namespaces are to be had tests are skipped, and say why" {
  mkdir bin
  printf '#!/bin/sh\nexit 1\n' >bin/unshare
  chmod +x bin/unshare
  local command=(env -i PATH="$PWD/bin:$PATH" HOME="$PWD" FOSTER="$FOSTER"
    PROBE="$PROBE" "$BATS_ROOT/bin/bats" --tap -f 'each exit code .* as PID 1'
    "$source_folder/tests/spawn.bats")
  run "${command[@]}"
  is "$status" 0
  is "${lines[0]}" 1..1
  matches "${lines[1]}" '^ok 1 .* # skip no PID namespaces here$'
  # But not in CI, where it would go unseen.
  run "${command[@]:0:2}" FOSTER_NO_SKIP=1 "${command[@]:2}"
  is "$status" 1
}
