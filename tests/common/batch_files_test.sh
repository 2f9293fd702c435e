#!/bin/sh
# batch_files_test.sh: tools/batch puts files together that may stand in one, and no others, in a small room of its own; what it makes is compiled. Prints TAP.
tool=${BERTH_SOURCE:?the sources}/tools/batch
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/room" && cd "$work" || exit 1
count=0 failed=0

result() { # STATUS SENTENCE
  count=$((count + 1))
  if [ "$1" = 0 ]; then echo "ok $count - $2"; else failed=1 && echo "not ok $count - $2"; fi
}
batch() { python3 "$tool" src made.d "$@" -- src/room/*.c; }
compiled() { for each; do cc -std=c17 -Wall -Werror -Isrc -c "$each" -o made.o || return 1; done; }
# pair FIRST SECOND: a room of two files, put into two batches.
pair() {
  printf '%s\n' "$1" >src/room/a.c
  printf '%s\n' "$2" >src/room/b.c
  batch 1.c 2.c && compiled 1.c 2.c
}
together() { # FIRST SECOND SENTENCE
  printf '%s\n' "$1" >src/room/a.c
  printf '%s\n' "$2" >src/room/b.c
  batch 1.c && compiled 1.c
  result $? "$3"
}
apart() { # FIRST SECOND SENTENCE
  pair "$1" "$2" && ! batch 1.c 2>told && grep -q 'room/[ab].c names what others of its room name, in each of 1 batches' told
  result $? "$3"
}

echo 'struct seat { int number; };
int seat_of(int number);' >src/room/seat.h

together 'static int f(void) { return 1; }
int a(void) { return f(); }' 'static int g(void) { return 2; }
int b(void) { return g(); }' 'files that name different things are put together'
apart 'static int f(void) { return 1; }
int a(void) { return f(); }' 'static int f(void) { return 2; }
int b(void) { return f(); }' 'two functions of one name are kept apart'
apart 'static int held;
int a(void) { return held++; }' 'static int held;
int b(void) { return held--; }' 'and two variables, which a compiler would take for one'
apart 'struct row { int a; };
int a(struct row row) { return row.a; }' 'struct row { int b; };
int b(struct row row) { return row.b; }' 'and two types'
apart 'static const struct {
    int one;
} rows[] = {{1}};
int a(void) { return rows[0].one; }' 'static int rows(void) { return 2; }
int b(void) { return rows(); }' 'and a table and a function'
apart 'enum {
    LEAST = 1, /* MOST: no constant */
};
int a(void) { return LEAST; }' 'static int LEAST = 2;
int b(void) { return LEAST; }' 'and constants'
apart 'static int seat_of(void) { return 1; }
int a(void) { return seat_of(); }' '#include "room/seat.h"
int b(void) { return seat_of(2); }' 'a name that a header of the other has is its own alone'
together 'static int seat(void) { return 1; }
int a(void) { return seat(); }' '#include "room/seat.h"
int b(struct seat seat) { return seat.number; }' 'a tag and a function may have one name'
together '#define LEAST 1
int a(void) { return LEAST; }' '#define LEAST 2
_Static_assert(LEAST == 2, "its own");
int b(void) { return LEAST; }' 'a macro ends with its file'
apart '#define _GNU_SOURCE
#include <unistd.h>
int a(char **words) { return execvpe(words[0], words, words); }' 'int execvpe(int b);
int b(void) { return execvpe(1); }' 'what asks the system for more is kept apart from what does not'
together '#define _GNU_SOURCE /* execvpe */
#include <unistd.h>
int a(char **words) { return execvpe(words[0], words, words); }' '#define _GNU_SOURCE
#include <unistd.h>
int b(char **words) { return execvpe(words[1], words, words); }' 'and put together with its likes'
together 'static const char text[] = "/*";
int a(void) { return text[0]; }' '/* static int text(void) */
static const char other[] = "*/";
int b(void) { return other[0]; }' 'what a comment says is not named, and a text does not begin one'

before=$(stat -c %y 1.c)
sleep 0.01
echo 'static int more(void) { return 3; }
int c(void) { return more(); }' >>src/room/b.c
batch 1.c && compiled 1.c && [ "$(stat -c %y 1.c)" = "$before" ]
result $? 'a batch that stays the same is not written'
pair '#include "room/seat.h"
int a(void) { return 1; }' 'int b(void) { return 2; }' && grep -q '^1.c: src/room/seat.h$' made.d
result $? 'what was read is told to ninja'

echo "1..$count"
exit $failed
