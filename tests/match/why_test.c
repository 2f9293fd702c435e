/* why_test.c: what is told of a request that matches nothing, of one that matches, and of an offer that nobody takes, on pools small
 * enough to be checked by hand.
 *
 * An explanation is written as lines, and a case names those that it is about by their first words:
 *
 *     verdict  not now; 1 fits, 2 accept, 0 match of 3
 *     clause   alone together undefined error, attribute:place, text; "+7" for those counted with it; "not at this time"
 *     conflict the two clauses; "types"
 *     set      its clauses, "offers" for their own constraints; how many it opens
 *     refusal  count and fitting, text; what it read of the request
 *     hint     its clause; what is the matter with the name
 *     edit     how many it opens; the changes
 *     choice   the offer and the next; the component that decided, and both values
 *     case     why nobody takes an offer */
#include "common/lang.h"
#include "common/tap.h"

#include "match/pair/why.h"

#include <jansson.h>

#define NOW 1772366400 /* 2026-03-01T12:00:00Z, a Sunday */
#define OFFERS_MAX 8

static const struct why_case {
    const char *sentence;
    const char *request, *offers[OFFERS_MAX];
    const char *about; /* first words of the lines that are compared */
    const char *says;
    const struct dialect *dialect; /* NULL: classic */
    const char *policy;            /* or NULL */
} cases[] = {
    /* ----------------------------------------------------------------------------------------------------- clauses */
    {"each clause is counted alone and with those before it, in source order",
     "[ Constraint = other.Type == \"Machine\" && other.Memory >= 64 && other.Arch == \"INTEL\" ]",
     {"[ Type = \"Machine\"; Memory = 32; Arch = \"INTEL\" ]", "[ Type = \"Machine\"; Memory = 64; Arch = \"SUN\" ]",
      "[ Type = \"Disk\"; Memory = 64; Arch = \"INTEL\" ]", "[ Type = \"Machine\"; Memory = 16; Arch = \"SUN\" ]"},
     .about = "verdict clause",
     .says = "verdict not now; 0 fit, 4 accept, 0 match of 4\n"
             "clause 3 3 0 0 Constraint:0 other.Type == \"Machine\"\n"
             "clause 2 1 0 0 Constraint:1 other.Memory >= 64\n"
             "clause 2 0 0 0 Constraint:2 other.Arch == \"INTEL\"\n"},
    {"a clause that is undefined or an error is counted as such",
     "[ Constraint = other.Memory >= 64 ]",
     {"[]", "[ Memory = \"much\" ]", "[ Memory = 1 ]", "[ Memory = [] ]"},
     .about = "clause",
     .says = "clause 0 0 1 2 Constraint:0 other.Memory >= 64\n"},
    {"a clause that the request's own attributes leave undefined or in error is counted as such",
     "[ s = \"a\"; Constraint = self.nosuch > 1 && s > 1 ]",
     {"[]", "[ nosuch = 2 ]"},
     .about = "clause",
     .says = "clause 0 0 2 0 Constraint:0 self.nosuch > 1\n"
             "clause 0 0 0 2 Constraint:1 s > 1\n"},
    {"an alternative that is an error by the request alone makes the clause one",
     "[ Owner = \"ann\"; Constraint = (other.Memory >= 2 || Owner == 2) ]",
     {"[ Memory = 3 ]", "[ Memory = 1 ]"},
     .about = "clause",
     .says = "clause 0 0 0 2 Constraint:0 (other.Memory >= 2 || Owner == 2)\n"},
    {"own attributes that are conjunctions are taken apart",
     "[ Constraint = Usual && other.Memory >= 64; Usual = other.Arch == \"INTEL\" && (self.More && other.Disk > 1); "
     "More = other.A && other.B ]",
     {"[ Arch = \"INTEL\"; A = true; B = true; Disk = 2; Memory = 1 ]"},
     .about = "clause",
     .says = "clause 1 1 0 0 Usual:0 other.Arch == \"INTEL\"\n"
             "clause 1 1 0 0 More:0 other.A\n"
             "clause 1 1 0 0 More:1 other.B\n"
             "clause 1 1 0 0 Usual:2 other.Disk > 1\n"
             "clause 0 0 0 0 Constraint:1 other.Memory >= 64\n"},
    {"an own attribute that is no conjunction stays a clause",
     "[ Constraint = Usual && true; Usual = other.A || other.B ]",
     {"[ A = false; B = false ]"},
     .about = "clause",
     .says = "clause 0 0 0 0 Constraint:0 Usual\n"
             "clause 1 0 0 0 Constraint:1 true\n"},
    {"a circular own attribute is taken apart once",
     "[ Constraint = Usual; Usual = other.A && Usual ]",
     {"[ A = true ]"},
     .about = "verdict clause",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "clause 1 1 0 0 Usual:0 other.A\n"
             "clause 0 0 1 0 Usual:1 Usual\n"},
    {"a constraint that asks for itself inside a clause is undefined there",
     "[ Constraint = !Constraint && other.B ]",
     {"[ B = true ]", "[ B = false ]"},
     .about = "verdict clause",
     .says = "verdict never; 0 fit, 2 accept, 0 match of 2\n"
             "clause 0 0 2 0 Constraint:0 !Constraint\n"
             "clause 1 0 0 0 Constraint:1 other.B\n"},
    {"so it is in an own attribute that is taken apart",
     "[ Constraint = Usual && other.B; Usual = (Usual || other.A) && other.C ]",
     {"[ A = true; B = true; C = true ]", "[ A = false; B = true; C = true ]"},
     .about = "verdict clause",
     .says = "verdict matches; 1 fits, 2 accept, 1 match of 2\n"
             "clause 1 1 1 0 Usual:0 (Usual || other.A)\n"
             "clause 2 1 0 0 Usual:1 other.C\n"
             "clause 2 1 0 0 Constraint:1 other.B\n"},
    {"in condor a number is a condition, and Requirements the constraint",
     "[ Requirements = TARGET.Slots && TARGET.Memory =?= 5 ]",
     {"[ Slots = 2; Memory = 4 ]", "[ Slots = 0; Memory = 5 ]", "[ Slots = \"x\"; Memory = 5.0 ]"},
     .about = "clause",
     .says = "clause 1 1 0 1 Requirements:0 TARGET.Slots\n"
             "clause 1 0 0 0 Requirements:1 TARGET.Memory is 5\n",
     .dialect = &dialect_condor},
    {"a request without a constraint has no clauses, and takes any",
     "[ Owner = \"ann\" ]",
     {"[ Constraint = other.Owner == \"bob\" ]"},
     .about = "verdict clause set",
     .says = "verdict not now; 1 fits, 0 accept, 0 match of 1\n"
             "set offers: 1\n"},
    {"a clause that is false at this time is told", /* noon is past */
     "[ Constraint = dayTime() < '6:00' && other.A ]",
     {"[ A = true ]"},
     .about = "verdict clause conflict",
     .says = "verdict not now; 0 fit, 1 accepts, 0 match of 1\n"
             "clause 0 0 0 0 Constraint:0 dayTime() < '06:00:00' not at this time\n"
             "clause 1 0 0 0 Constraint:1 other.A\n"},
    {"a clause that compares the time with an offer's attribute is not false by the time alone",
     "[ Constraint = time() < other.Until ]",
     {"[ Until = 1772366400 ]"},
     .about = "verdict clause",
     .says = "verdict not now; 0 fit, 1 accepts, 0 match of 1\n"
             "clause 0 0 0 0 Constraint:0 time() < other.Until\n"},
    {"in condor as well",
     "[ Requirements = time() < 1772366400 ]",
     {"[]"},
     .about = "verdict clause",
     .says = "verdict not now; 0 fit, 1 accepts, 0 match of 1\n"
             "clause 0 0 0 0 Requirements:0 time() < 1772366400 not at this time\n",
     .dialect = &dialect_condor},
    {"a clause that is true at this time keeps nobody out",
     "[ Constraint = dayTime() > '6:00' && other.A ]",
     {"[ A = true ]"},
     .about = "verdict clause",
     .says = "verdict matches; 1 fits, 1 accepts, 1 match of 1\n"
             "clause 1 1 0 0 Constraint:0 dayTime() > '06:00:00'\n"
             "clause 1 1 0 0 Constraint:1 other.A\n"},
    {"in an empty pool all counts are zero, and nothing is to blame",
     "[ Constraint = other.A && other.B ]",
     {NULL},
     .about = "verdict clause conflict refusal hint edit choice",
     .says = "verdict not now; 0 fit, 0 accept, 0 match of 0\n"
             "clause 0 0 0 0 Constraint:0 other.A\n"
             "clause 0 0 0 0 Constraint:1 other.B\n"},

    /* --------------------------------------------------------------------------------------------------- conflicts */
    {"bounds that leave nothing between them can never match",
     "[ Constraint = other.x < 10 && other.y && other.x > 12 ]",
     {"[ x = 11; y = true ]"},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "conflict 0 2\n"},
    {"also in an empty pool",
     "[ Constraint = x < 10 && TARGET.x > 12 ]",
     {NULL},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 0 accept, 0 match of 0\n"
             "conflict 0 1\n"},
    {"one attribute held to two types can never match",
     "[ Constraint = other.x < 10 && other.x == \"a\" ]",
     {"[ x = 1 ]"},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "conflict 0 1 types\n"},
    {"a boolean is a number in condor",
     "[ Requirements = other.x == true && other.x >= 1 ]",
     {NULL},
     .about = "verdict conflict",
     .says = "verdict not now; 0 fit, 0 accept, 0 match of 0\n",
     .dialect = &dialect_condor},
    {"and in classic not",
     "[ Requirements = other.x == true && other.x >= 1 ]",
     {NULL},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 0 accept, 0 match of 0\n"
             "conflict 0 1 types\n"},
    {"own attributes decide whether clauses contradict each other",
     "[ low = 9; Constraint = other.x > low && Usual; Usual = other.x < 9 && other.y ]",
     {"[ x = 9; y = true ]"},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "conflict 0 1\n"},
    {"a clause that is false by the request alone is never true",
     "[ Memory = 2; Constraint = other.A && self.Memory > 4 ]",
     {"[ A = true ]"},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "conflict 1 1\n"},
    {"so is one that is undefined, an error or no truth value whatever the offer",
     "[ Constraint = self.nosuch > 1 && \"a\" > 1 && 1 && undefined ]",
     {"[]"},
     .about = "verdict conflict",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "conflict 0 0\n"
             "conflict 1 1\n"
             "conflict 2 2\n"
             "conflict 3 3\n"},
    {"an integer and a real that are equal beyond 2^53 do not contradict each other",
     "[ Constraint = other.x >= 9007199254740993 && other.x <= 9007199254740992 ]",
     {"[ x = 9007199254740992.0 ]"},
     .about = "verdict conflict",
     .says = "verdict matches; 1 fits, 1 accepts, 1 match of 1\n"},
    {"what nobody satisfies now is not what nobody ever can",
     "[ Constraint = other.x >= 10 && other.x <= 10 ]",
     {"[ x = 9 ]", "[ x = 11 ]"},
     .about = "verdict conflict",
     .says = "verdict not now; 0 fit, 2 accept, 0 match of 2\n"},

    /* -------------------------------------------------------------------------------------------------------- sets */
    {"a clause that no offer satisfies is a blocker by itself",
     "[ Constraint = other.Memory >= 64 && other.Disk >= 1 ]",
     {"[ Memory = 32; Disk = 1 ]", "[ Memory = 16; Disk = 5 ]"},
     .about = "set",
     .says = "set 0: 2\n"},
    {"clauses that no offer satisfies together are one",
     "[ Constraint = other.A && other.B && other.C ]",
     {"[ A = true; B = false; C = true ]", "[ A = false; B = true; C = true ]"},
     .about = "set",
     .says = "set 0 1: 2\n"},
    {"all blockers are told, the largest effect first",
     "[ Constraint = other.A && other.B && other.C ]",
     {"[ A = false; B = false; C = true ]", "[ A = false; B = true; C = false ]", "[ A = false; B = true; C = true ]"},
     .about = "set",
     .says = "set 0: 1\n"},
    {"different clauses that block different offers are told in all combinations",
     "[ Constraint = other.A && other.B && other.C ]",
     {"[ A = false; B = false; C = true ]", "[ A = true; B = false; C = false ]", "[ A = true; B = false; C = true ]",
      "[ A = false; B = true; C = false ]"},
     .about = "set",
     .says = "set 0 1: 2\n"
             "set 1 2: 2\n"},
    {"the offers' own constraints may be one of the set",
     "[ Owner = \"ann\"; Constraint = other.Memory >= 64 ]",
     {"[ Memory = 64; Constraint = other.Owner == \"bob\" ]", "[ Memory = 32; Constraint = other.Owner == \"ann\" ]"},
     .about = "set",
     .says = "set 0 offers: 2\n"},
    {"in an empty pool nothing needs to be excluded",
     "[ Constraint = other.A ]",
     {NULL},
     .about = "verdict set",
     .says = "verdict not now; 0 fit, 0 accept, 0 match of 0\n"
             "set: 0\n"},

    /* ---------------------------------------------------------------------------------------------------- refusals */
    {"offers that refuse are grouped by the clause, with what it read of the request",
     "[ Owner = \"ann\"; Size = 10; Constraint = other.Memory >= 64 ]",
     {"[ Memory = 64; Constraint = other.Owner == \"bob\" ]", "[ Memory = 1; Constraint = OTHER.owner == \"bob\" ]",
      "[ Memory = 64; Constraint = true && Size < self.Memory / 8 ]"},
     .about = "verdict refusal",
     .says = "verdict not now; 2 fit, 0 accept, 0 match of 3\n"
             "refusal 2 1 other.Owner == \"bob\"; Owner = \"ann\"\n"
             "refusal 1 1 Size < self.Memory / 8; Size = 10\n"},
    {"an offer that refuses by two clauses stands in both groups",
     "[ a = 1; b = 1 ]",
     {"[ Constraint = other.a > 1 && other.b > 1 ]", "[ Constraint = other.b > 1 ]"},
     .about = "refusal",
     .says = "refusal 2 2 other.b > 1; b = 1\n"
             "refusal 1 1 other.a > 1; a = 1\n"},
    {"an offer that says a clause twice refuses once",
     "[ a = 1 ]",
     {"[ Constraint = other.a > 1 && other.a > 1 ]"},
     .about = "refusal",
     .says = "refusal 1 1 other.a > 1; a = 1\n"},
    {"an attribute that the request does not have is told as missing",
     "[]",
     {"[ Constraint = member(other.Owner, { \"ann\" }) ]"},
     .about = "refusal",
     .says = "refusal 1 1 member(other.Owner, { \"ann\" }); Owner is missing\n"},
    {"an offer may refuse by its own state",
     "[]",
     {"[ Load = 5; Constraint = self.Load < 1 ]"},
     .about = "refusal",
     .says = "refusal 1 1 self.Load < 1; itself\n"},
    {"what an offer reads by way of its own attributes is told",
     "[ Owner = \"ann\"; Friend = Owner ]",
     {"[ Known = other.Friend == \"bob\"; Constraint = Known ]"},
     .about = "refusal",
     .says = "refusal 1 1 Known; Friend = \"ann\"\n"},
    {"refusals are told of a request that matches as well",
     "[ Owner = \"ann\" ]",
     {"[ Constraint = other.Owner == \"bob\" ]", "[]"},
     .about = "verdict refusal",
     .says = "verdict matches; 2 fit, 1 accepts, 1 match of 2\n"
             "refusal 1 1 other.Owner == \"bob\"; Owner = \"ann\"\n"},

    /* ------------------------------------------------------------------------------------------------------- hints */
    {"a name that no offer has is told, with the nearest that they do have",
     "[ Constraint = other.Memry >= 64 ]",
     {"[ Memory = 64 ]", "[ Memory = 1; Disk = 5 ]", "[ Disk = 5 ]"},
     .about = "hint",
     .says = "hint 0 none has Memry, 2 have Memory\n"},
    {"nothing is told of names when none is near",
     "[ Constraint = other.Temperature >= 64 ]",
     {"[ Memory = 64 ]"},
     .about = "hint",
     .says = "hint 0 none has Temperature\n"},
    {"an attribute that some offers lack is told",
     "[ Constraint = other.Memory >= 64 ]",
     {"[ Memory = 32 ]", "[ Disk = 5 ]"},
     .about = "hint",
     .says = "hint 0 1 lack Memory\n"},
    {"a type that never fits is told",
     "[ Constraint = other.Memory >= 64 ]",
     {"[ Memory = \"64\" ]", "[ Memory = \"128\" ]"},
     .about = "hint",
     .says = "hint 0 Memory is string in 2, not integer\n"},
    {"a name inside a larger clause is told as well",
     "[ Constraint = (other.Arc == \"INTEL\" || other.Arc == \"SUN\") ]",
     {"[ Arch = \"INTEL\" ]"},
     .about = "hint",
     .says = "hint 0 none has Arc, 1 have Arch\n"},
    {"a name in an own attribute is told",
     "[ Constraint = Usual; Usual = other.Arc == \"INTEL\" && other.B ]",
     {"[ Arch = \"INTEL\"; B = true ]"},
     .about = "hint",
     .says = "hint 0 none has Arc, 1 have Arch\n"},
    {"an own name that is misspelt is told", /* the counterpart is asked for it */
     "[ ImageSize = 5; Constraint = other.Memory >= ImagSize ]",
     {"[ Memory = 64 ]"},
     .about = "hint",
     .says = "hint 0 none has ImagSize\n"},
    {"of a request that matches no hints are told",
     "[ Constraint = other.Memory >= 64 ]",
     {"[ Memory = 64 ]", "[]"},
     .about = "hint",
     .says = ""},

    /* ------------------------------------------------------------------------------------------------------- edits */
    {"a bound is moved to the nearest value that offers have",
     "[ Constraint = other.Memory >= 64 ]",
     {"[ Memory = 32 ]", "[ Memory = 48 ]", "[ Memory = 16 ]"},
     .about = "edit",
     .says = "edit 1 other.Memory >= 48 for other.Memory >= 64\n"},
    {"a strict bound takes the value in",
     "[ Constraint = 10 > other.Load ]",
     {"[ Load = 12 ]"},
     .about = "edit",
     .says = "edit 1 other.Load <= 12 for 10 > other.Load\n"},
    {"a text is changed to one that offers have",
     "[ Constraint = other.Arch == \"INTEL\" ]",
     {"[ Arch = \"X86_64\" ]"},
     .about = "edit",
     .says = "edit 1 other.Arch == \"X86_64\" for other.Arch == \"INTEL\"\n"},
    {"an own attribute that a clause compares with is changed itself",
     "[ Need = 64; Constraint = other.Memory >= self.Need ]",
     {"[ Memory = 32 ]"},
     .about = "edit",
     .says = "edit 1 Need = 32 for 64\n"},
    {"a clause of another form is dropped",
     "[ Constraint = other.A && (other.B || other.C) ]",
     {"[ A = true; B = false; C = false ]"},
     .about = "edit",
     .says = "edit 1 drop (other.B || other.C)\n"},
    {"an offer's refusal is met by changing the attribute that it looks at",
     "[ Owner = \"ann\"; Constraint = other.A ]",
     {"[ A = true; Constraint = other.Owner == \"bob\" ]", "[ A = true; Constraint = other.Owner == \"bob\" ]"},
     .about = "edit",
     .says = "edit 2 Owner = \"bob\" for \"ann\"\n"},
    {"what most of the offers that refuse want comes first",
     "[ Owner = \"ann\" ]",
     {"[ Constraint = other.Owner == \"bob\" ]", "[ Constraint = other.Owner == \"eve\" ]",
      "[ Constraint = other.Owner == \"eve\" ]", "[ Constraint = other.Owner == \"eve\" ]"},
     .about = "edit",
     .says = "edit 3 Owner = \"eve\" for \"ann\"\n"
             "edit 1 Owner = \"bob\" for \"ann\"\n"},
    {"or by an attribute that is new",
     "[]",
     {"[ Constraint = other.Owner == \"bob\" && other.Size < 5 ]"},
     .about = "edit",
     .says = "edit 1 Owner = \"bob\" & Size = 4\n"},
    {"a misspelt name is changed to the nearest",
     "[ Constraint = other.Memry >= 64 ]",
     {"[ Memory = 64 ]", "[ Memory = 32 ]"},
     .about = "edit",
     .says = "edit 1 other.Memory >= 64 for other.Memry >= 64\n"},
    {"edits are ranked by how many offers they open",
     "[ Constraint = other.Memory >= 64 && other.Arch == \"INTEL\" ]",
     {"[ Memory = 32; Arch = \"INTEL\" ]", "[ Memory = 64; Arch = \"SUN\" ]", "[ Memory = 64; Arch = \"SUN\" ]"},
     .about = "edit",
     .says = "edit 2 other.Arch == \"SUN\" for other.Arch == \"INTEL\"\n"
             "edit 1 other.Memory >= 32 for other.Memory >= 64\n"},
    {"where one change does not do, several are told as one edit",
     "[ Constraint = other.Memory >= 64 && other.Arch == \"INTEL\" ]",
     {"[ Memory = 32; Arch = \"SUN\" ]"},
     .about = "edit",
     .says = "edit 1 other.Memory >= 32 for other.Memory >= 64 & other.Arch == \"SUN\" for other.Arch == \"INTEL\"\n"},
    {"clauses that exclude each other can be edited",
     "[ Constraint = other.x < 10 && other.x > 12 ]",
     {"[ x = 9 ]"},
     .about = "verdict edit",
     .says = "verdict never; 0 fit, 1 accepts, 0 match of 1\n"
             "edit 1 other.x >= 9 for other.x > 12\n"},
    {"one attribute that two clauses compare with is changed once",
     "[ Need = 4; Constraint = other.Memory >= Need && other.Disk >= Need ]",
     {"[ Memory = 3; Disk = 2 ]"},
     .about = "edit",
     .says = "edit 1 Need = 2 for 4\n"},
    {"a clause that is read twice is changed once",
     "[ Constraint = Usual && Usual; Usual = other.Memory >= 4 && other.A ]",
     {"[ Memory = 3; A = true ]"},
     .about = "edit",
     .says = "edit 1 other.Memory >= 3 for other.Memory >= 4\n"},
    {"when the changed attribute would make offers refuse, the clause is changed instead",
     "[ Need = 5; Constraint = other.Memory >= Need ]",
     {"[ Memory = 3; Constraint = other.Need > 4 ]"},
     .about = "edit",
     .says = "edit 1 other.Memory >= 3 for other.Memory >= Need\n"},
    {"offers that two bounds of one attribute keep out want the value between them",
     "[ a = 1 ]",
     {"[ Constraint = other.a >= 2 && other.a == 4 ]"},
     .about = "edit",
     .says = "edit 1 a = 4 for 1\n"},
    {"a change in an own attribute counts for all clauses that read it",
     "[ Constraint = Usual && (Usual || other.B); Usual = other.Memory >= 4 && other.A ]",
     {"[ Memory = 3; A = true; B = true ]", "[ Memory = 3; A = true; B = false ]"},
     .about = "edit",
     .says = "edit 2 other.Memory >= 3 for other.Memory >= 4\n"},
    {"an offer that asks for the request's constraint is opened by a change of it",
     "[ Constraint = other.Memory >= 4 ]",
     {"[ Memory = 3 ]", "[ Memory = 3; Constraint = other.Constraint is true ]"},
     .about = "edit",
     .says = "edit 2 other.Memory >= 3 for other.Memory >= 4\n"},
    {"the edit of a condor request is in its dialect",
     "[ Owner = \"ann\"; Requirements = TARGET.Memory >= 64 ]",
     {"[ Memory = 32; Requirements = TARGET.Owner == \"bob\" ]"},
     .about = "edit",
     .says = "edit 1 TARGET.Memory >= 32 for TARGET.Memory >= 64 & Owner = \"bob\" for \"ann\"\n",
     .dialect = &dialect_condor},
    {"where the offers' own state refuses, no edit helps",
     "[ Owner = \"ann\" ]",
     {"[ Load = 5; Constraint = self.Load < 1 ]"},
     .about = "edit",
     .says = ""},
    {"of a request that matches no edits are told",
     "[ Constraint = other.Memory >= 64 ]",
     {"[ Memory = 64 ]", "[ Memory = 1 ]"},
     .about = "edit set",
     .says = ""},

    /* ------------------------------------------------------------------------------------------------------ choice */
    {"an offer that alone matches is taken",
     "[ Constraint = other.A ]",
     {"[ A = false ]", "[ A = true ]"},
     .about = "verdict choice",
     .says = "verdict matches; 1 fits, 2 accept, 1 match of 2\n"
             "choice 1 alone\n"},
    {"the request's rank decides",
     "[ Rank = other.m ]",
     {"[ m = 1; Rank = 9 ]", "[ m = 3 ]", "[ m = 2 ]"},
     .about = "choice",
     .says = "choice 1 2 by self.Rank: 3 against 2\n"},
    {"then the offers' rank",
     "[ x = 2; Rank = 1 ]",
     {"[ Rank = 1 ]", "[ Rank = other.x ]"},
     .about = "choice",
     .says = "choice 1 0 by label.Rank: 2 against 1\n"},
    {"then the first", "[]", {"[ m = 1 ]", "[ m = 2 ]"}, .about = "choice", .says = "choice 0 1 first\n"},
    {"the component of the docking vector that decided is told",
     "[ Rank = 1 ]",
     {"[ Memory = 64; Rank = 1 ]", "[ Memory = 32; Rank = 1 ]", "[ Memory = 128; Rank = 1 ]"},
     .about = "choice",
     .says = "choice 1 0 by -label.Memory: -32 against -64\n",
     .policy = "[ DockingVector = { self.Rank, label.Rank, -label.Memory } ]"},
    {"a vector with an undefined component is passed over",
     "[]",
     {"[]", "[ n = -7 ]", "[ n = \"a\" + 1 ]"},
     .about = "verdict choice",
     .says = "verdict matches; 3 fit, 3 accept, 3 match of 3\n"
             "choice 1 alone\n",
     .policy = "[ DockingVector = { label.n } ]"},
    {"a policy may discard all that match",
     "[]",
     {"[]", "[ n = error ]"},
     .about = "verdict choice",
     .says = "verdict not now, discarded; 2 fit, 2 accept, 2 match of 2\n",
     .policy = "[ DockingVector = { label.n } ]"},

    /* ------------------------------------------------------------------------- an offer, the requests being the others */
    {"an offer without customers",
     "[ Constraint = other.Owner == \"ann\" ]",
     {NULL},
     .about = "case",
     .says = "case nobody\n"},
    {"an offer that matches the constraints of no customer",
     "[ Memory = 32; Constraint = other.Owner == \"ann\" ]",
     {"[ Owner = \"ann\"; Constraint = other.Memory >= 64 ]", "[ Owner = \"bob\"; Constraint = other.Memory >= 128 ]"},
     .about = "case",
     .says = "case unwanted\n"},
    {"an offer that refuses all customers there are, but would serve others",
     "[ Memory = 64; Constraint = other.Owner == \"eve\" ]",
     {"[ Owner = \"ann\"; Constraint = other.Memory >= 64 ]", "[ Owner = \"bob\" ]"},
     .about = "case",
     .says = "case refuses\n"},
    {"an offer that refuses everybody",
     "[ Load = 5; Constraint = other.Owner == \"ann\" && self.Load < 1 ]",
     {"[ Owner = \"ann\" ]"},
     .about = "case",
     .says = "case closed\n"},
    {"an offer that refuses everybody at this time",
     "[ Constraint = other.Owner == \"ann\" && dayTime() < '6:00' ]",
     {"[ Owner = \"ann\" ]"},
     .about = "case",
     .says = "case closed\n"},
    {"an offer whose clauses exclude each other refuses everybody",
     "[ Constraint = other.Size < 1 && other.Size > 2 ]",
     {"[ Size = 1 ]"},
     .about = "case",
     .says = "case closed\n"},
    {"an offer that somebody takes",
     "[ Memory = 64 ]",
     {"[ Constraint = other.Memory >= 64 ]"},
     .about = "case",
     .says = "case taken\n"},
};

/* --------------------------------------------------------------------------------------------- an explanation as lines */

struct teller {
    struct buf *out;
    const struct why *why;
    const struct tree *request;
};

static void tell_symbol(const struct teller *t, symbol name)
{
    size_t len;

    buf_adds(t->out, symbols_text(t->request->symbols, name, &len));
}

static void tell_count(const struct teller *t, size_t n, const char *one, const char *many)
{
    buf_addf(t->out, "%zu %s, ", n, n == 1 ? one : many);
}

static void tell_verdict(const struct teller *t)
{
    static const char *const words[] = {[WHY_MATCHES] = "matches", [WHY_NOT_NOW] = "not now", [WHY_NEVER] = "never"};

    buf_addf(t->out, "verdict %s%s; ", words[t->why->verdict], t->why->discarded ? ", discarded" : "");
    tell_count(t, t->why->fitting, "fits", "fit");
    tell_count(t, t->why->accepting, "accepts", "accept");
    buf_addf(t->out, "%zu match of %zu\n", t->why->matching, t->why->offers);
}

static void tell_clauses(const struct teller *t)
{
    for (uint32_t i = 0; i < t->why->clause_count; i++) {
        const struct why_clause *clause = &t->why->clauses[i];

        buf_addf(t->out, "clause %zu %zu %zu %zu ", clause->alone, clause->together, clause->undefined, clause->error);
        tell_symbol(t, clause->attribute);
        buf_addf(t->out, ":%u ", clause->place);
        print_expr(t->out, t->request, clause->e, PRINT_PLAIN);
        if (clause->more)
            buf_addf(t->out, " +%u", clause->more);
        buf_adds(t->out, clause->timed ? " not at this time\n" : "\n");
    }
    for (uint32_t i = 0; i < t->why->conflict_count; i++)
        buf_addf(t->out, "conflict %u %u%s\n", t->why->conflicts[i].a, t->why->conflicts[i].b,
                 t->why->conflicts[i].types ? " types" : "");
}

static void tell_sets(const struct teller *t)
{
    for (uint32_t i = 0; i < t->why->set_count; i++) {
        const struct why_set *set = &t->why->sets[i];

        buf_adds(t->out, "set");
        for (uint32_t k = 0; k < t->why->clause_count; k++)
            if (set->clauses >> k & 1)
                buf_addf(t->out, " %u", k);
        buf_addf(t->out, "%s: %zu\n", set->offers ? " offers" : "", set->opens);
    }
}

static void tell_refusals(const struct teller *t)
{
    for (uint32_t i = 0; i < t->why->refusal_count; i++) {
        const struct why_refusal *refusal = &t->why->refusals[i];

        buf_addf(t->out, "refusal %zu %zu ", refusal->count, refusal->fitting);
        print_expr(t->out, refusal->offer, refusal->e, PRINT_PLAIN);
        for (uint32_t k = 0; k < refusal->read_count; k++) {
            buf_adds(t->out, "; ");
            tell_symbol(t, refusal->reads[k].name);
            if (refusal->reads[k].value)
                buf_addf(t->out, " = %s", refusal->reads[k].value);
            else
                buf_adds(t->out, " is missing");
        }
        buf_adds(t->out, refusal->read_count ? "\n" : "; itself\n");
    }
}

static void tell_hints(const struct teller *t)
{
    for (uint32_t i = 0; i < t->why->hint_count; i++) {
        const struct why_hint *hint = &t->why->hints[i];

        buf_addf(t->out, "hint %u ", hint->clause);
        if (hint->kind == WHY_NO_SUCH_NAME)
            buf_adds(t->out, "none has ");
        else if (hint->kind == WHY_MISSING)
            buf_addf(t->out, "%zu lack ", hint->count);
        tell_symbol(t, hint->name);
        if (hint->kind == WHY_WRONG_TYPE)
            buf_addf(t->out, " is %s in %zu, not %s", value_type_name(hint->found), hint->count,
                     value_type_name(hint->wanted));
        if (hint->nearest != SYMBOL_NONE) {
            buf_addf(t->out, ", %zu have ", hint->nearest_have);
            tell_symbol(t, hint->nearest);
        }
        buf_addc(t->out, '\n');
    }
}

static void tell_edits(const struct teller *t)
{
    for (uint32_t i = 0; i < t->why->edit_count; i++) {
        const struct why_edit *edit = &t->why->edits[i];

        buf_addf(t->out, "edit %zu", edit->opens);
        for (uint32_t k = 0; k < edit->part_count; k++) {
            const struct why_change *change = &edit->parts[k];

            buf_adds(t->out, k ? " & " : " ");
            if (change->kind == WHY_DROP_CLAUSE) {
                buf_addf(t->out, "drop %s", change->from);
                continue;
            }
            if (change->kind == WHY_CHANGE_ATTRIBUTE) {
                tell_symbol(t, change->attribute);
                buf_adds(t->out, " = ");
            }
            buf_adds(t->out, change->to);
            if (change->from)
                buf_addf(t->out, " for %s", change->from);
        }
        buf_addc(t->out, '\n');
    }
}

static void tell_choice(const struct teller *t)
{
    static const char *const words[] = {[WHY_OFFER_TAKEN] = "taken",
                                        [WHY_OFFER_NOBODY] = "nobody",
                                        [WHY_OFFER_UNWANTED] = "unwanted",
                                        [WHY_OFFER_REFUSES] = "refuses",
                                        [WHY_OFFER_CLOSED] = "closed"};
    const struct why_choice *choice = &t->why->choice;

    if (t->why->verdict == WHY_MATCHES) {
        buf_addf(t->out, "choice %zu ", choice->offer);
        if (!choice->has_second)
            buf_adds(t->out, "alone\n");
        else if (choice->component < 0)
            buf_addf(t->out, "%zu first\n", choice->second);
        else
            buf_addf(t->out, "%zu by %s: %s against %s\n", choice->second, choice->text, choice->value,
                     choice->second_value);
    }
    buf_addf(t->out, "case %s\n", words[why_offer(t->why)]);
}

static void tell(struct buf *out, const struct why *why, const struct tree *request)
{
    const struct teller t = {out, why, request};

    tell_verdict(&t);
    tell_clauses(&t);
    tell_sets(&t);
    tell_refusals(&t);
    tell_hints(&t);
    tell_edits(&t);
    tell_choice(&t);
}

/* Is the first word of the line among these? */
static bool line_is_about(const char *line, const char *about)
{
    size_t len = strcspn(line, " :\n");

    for (const char *word = about; *word; word += strspn(word, " ")) {
        size_t word_len = strcspn(word, " ");

        if (word_len == len && memcmp(word, line, len) == 0)
            return true;
        word += word_len;
    }
    return false;
}

static void lines_keep(struct buf *out, const char *lines, const char *about)
{
    while (*lines) {
        size_t len = strcspn(lines, "\n") + 1;

        if (line_is_about(lines, about))
            buf_add(out, lines, len);
        lines += len;
    }
}

/* --------------------------------------------------------------------------------------------------------------- pools */

/* A request and offers that are explained. */
struct pool {
    struct lang *lang;
    struct tree *request, **offers, *policy_ad;
    size_t count;
    struct policy policy;
    struct why why;
};

static struct tree *read_ad(struct lang *lang, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(lang, dialect, text, &err);

    if (!tree) {
        printf("Bail out! %s: %u:%u: %s\n", text, err.line, err.column, err.text);
        exit(1);
    }
    return tree;
}

static void pool_explain(struct pool *pool, struct lang *lang, const struct dialect *dialect, const char *request,
                         const char *const *offers, size_t count, const char *policy)
{
    static const struct env env = {.now = NOW};
    struct arena_mark before = arena_mark(&lang->arena), after;
    symbol wrong;

    *pool = (struct pool){.lang = lang, .count = count, .request = read_ad(lang, dialect, request)};
    pool->offers = malloc((count + 1) * sizeof *pool->offers);
    for (size_t i = 0; i < count; i++)
        pool->offers[i] = read_ad(lang, dialect, offers[i]);
    pool->policy_ad = policy ? read_ad(lang, dialect, policy) : NULL;
    policy_init(&pool->policy, pool->policy_ad, &wrong, NULL);
    why_explain(&pool->why, &env, &lang->arena, &pool->policy, pool->request, pool->offers, count);
    after = arena_mark(&lang->arena);
    if (memcmp(&before, &after, sizeof before) != 0)
        tap_ok(false, "the scratch arena is left as it was: %s", request);
}

static void pool_done(struct pool *pool)
{
    why_done(&pool->why);
    policy_done(&pool->policy);
    tree_unref(pool->policy_ad);
    tree_unref(pool->request);
    while (pool->count)
        tree_unref(pool->offers[--pool->count]);
    free(pool->offers);
}

static void offer_name(void *user, size_t offer, struct buf *out)
{
    (void)user;
    buf_addf(out, "offer%zu", offer);
}

/* Both forms for people and programs; returns whether the second is JSON. */
static bool pool_prints(const struct pool *pool, bool is_offer, struct buf *ret_words)
{
    const struct why_names names = {.request = "it", .offer = offer_name, .is_offer = is_offer};
    struct buf json;
    json_t *read;
    bool is;

    buf_init(&json);
    why_print(ret_words, &pool->why, pool->request, &names);
    why_print_json(&json, &pool->why, pool->request, &names);
    read = json_loads(buf_string(&json), 0, NULL);
    is = json_is_object(read);
    json_decref(read);
    buf_done(&json);
    return is;
}

static void check_case(struct lang *lang, const struct why_case *c)
{
    struct buf lines, kept, words;
    struct pool pool;
    size_t count = 0;

    while (count < OFFERS_MAX && c->offers[count])
        count++;
    buf_init(&lines);
    buf_init(&kept);
    buf_init(&words);
    pool_explain(&pool, lang, c->dialect ? c->dialect : &dialect_classic, c->request, c->offers, count, c->policy);
    tell(&lines, &pool.why, pool.request);
    lines_keep(&kept, buf_string(&lines), c->about);
    if (!tap_ok(strcmp(buf_string(&kept), c->says) == 0, "%s", c->sentence))
        tap_diag("request %s\nexpected\n%sgot\n%s", c->request, c->says, buf_string(&lines));
    if (!pool_prints(&pool, strcmp(c->about, "case") == 0, &words) || !words.len)
        tap_ok(false, "it prints in words and as JSON: %s", c->sentence);
    buf_done(&lines);
    buf_done(&kept);
    buf_done(&words);
    pool_done(&pool);
}

/* -------------------------------------------------------------------------------------------------------------- bounds */

/* "[ Constraint = other.a0 > 0 && other.a1 > 0 && ... ]" */
static void add_many_clauses(struct buf *out, unsigned count)
{
    buf_adds(out, "[ Constraint = ");
    for (unsigned i = 0; i < count; i++)
        buf_addf(out, "%sother.a%u > 0", i ? " && " : "", i);
    buf_adds(out, " ]");
}

/* An offer that fails exactly these two. */
static void add_many_attributes(struct buf *out, unsigned count, unsigned fails, unsigned fails_too)
{
    buf_adds(out, "[ ");
    for (unsigned i = 0; i < count; i++)
        buf_addf(out, "a%u = %d; ", i, i == fails || i == fails_too ? 0 : 1);
    buf_addc(out, ']');
}

static void check_clauses_beyond(struct lang *lang, unsigned count, unsigned fails)
{
    struct buf request, offer;
    const char *offers[1];
    struct pool pool;
    const struct why *why = &pool.why;
    unsigned last = WHY_CLAUSES_MAX - 1, failed = fails < last ? fails : last;
    bool right = true;

    buf_init(&request);
    buf_init(&offer);
    add_many_clauses(&request, count);
    add_many_attributes(&offer, count, fails, fails);
    offers[0] = buf_string(&offer);
    pool_explain(&pool, lang, &dialect_classic, buf_string(&request), offers, 1, NULL);
    for (uint32_t i = 0; i < why->clause_count; i++)
        right = right && why->clauses[i].alone == (i != failed) && why->clauses[i].together == (i < failed);
    tap_ok(right && why->clause_count == (count < WHY_CLAUSES_MAX ? count : WHY_CLAUSES_MAX) &&
               why->clauses[why->clause_count - 1].more == (count > WHY_CLAUSES_MAX ? count - WHY_CLAUSES_MAX : 0),
           "of %u clauses the last that is told apart stands for the rest: clause %u fails", count, fails);
    tap_ok(why->set_count == 1 && why->sets[0].clauses == (uint64_t)1 << failed && why->sets[0].opens == 1 &&
               why->fitting == 0 && why->accepting == 1,
           "and it is found among %u clauses that clause %u is to blame", count, fails);
    tap_ok(why->edit_count == (count > WHY_CLAUSES_MAX && failed == last ? 0 : 1),
           "and, of %u, an edit of clause %u is told if it is told apart", count, fails);
    pool_done(&pool);
    buf_done(&request);
    buf_done(&offer);
}

/* Does no offer satisfy the set, but some offer what is left of it without any one member? Offer i fails clauses 2i and 2i+1. */
static bool takes_one_of_each(const struct why_set *set, unsigned pairs)
{
    for (unsigned i = 0; i < pairs; i++)
        if (__builtin_popcountll(set->clauses >> 2 * i & 3) != 1)
            return false;
    return !set->offers && !(set->clauses >> 2 * pairs);
}

static void check_many_sets(struct lang *lang, unsigned pairs)
{
    struct buf request, texts[12];
    const char *offers[12];
    struct pool pool;
    bool right = true, all = (1u << pairs) <= WHY_SETS_MAX;

    buf_init(&request);
    add_many_clauses(&request, 2 * pairs);
    for (unsigned i = 0; i < pairs; i++) {
        buf_init(&texts[i]);
        add_many_attributes(&texts[i], 2 * pairs, 2 * i, 2 * i + 1);
        offers[i] = buf_string(&texts[i]);
    }
    pool_explain(&pool, lang, &dialect_classic, buf_string(&request), offers, pairs, NULL);
    for (uint32_t i = 0; i < pool.why.set_count; i++)
        right = right && takes_one_of_each(&pool.why.sets[i], pairs);
    tap_ok(right && pool.why.all_sets == all && pool.why.set_count == (all ? 1u << pairs : WHY_SETS_MAX),
           "of %u minimal sets %s told, each of them minimal", 1u << pairs, all ? "all are" : "some are");
    for (unsigned i = 0; i < pairs; i++)
        buf_done(&texts[i]);
    buf_done(&request);
    pool_done(&pool);
}

static void check_many_refusals(struct lang *lang, unsigned count)
{
    struct buf texts[40];
    const char *offers[40] = {NULL};
    struct pool pool;
    bool all = count <= WHY_REFUSALS_MAX;

    for (unsigned i = 0; i < count; i++) {
        buf_init(&texts[i]);
        buf_addf(&texts[i], "[ Constraint = other.x == %u ]", i);
        offers[i] = buf_string(&texts[i]);
    }
    pool_explain(&pool, lang, &dialect_classic, "[ x = -1 ]", offers, count, NULL);
    tap_ok(pool.why.all_refusals == all && pool.why.refusal_count == (all ? count : WHY_REFUSALS_MAX),
           "of %u clauses that refuse %s told", count, all ? "all are" : "some are");
    tap_ok(pool.why.edit_count > 0 && pool.why.edit_count <= WHY_EDITS_MAX, "and of %u edits as many as are bearable",
           count);
    pool_done(&pool);
    for (unsigned i = 0; i < count; i++)
        buf_done(&texts[i]);
}

/* --------------------------------------------------------------------------------------------------------------- words */

static void check_words(struct lang *lang)
{
    static const struct {
        const char *sentence, *request, *offers[2], *words;
        bool missing; /* the words must not be there */
    } rows[] = {
        {"a request that can never match says so",
         "[ Constraint = other.x < 10 && other.x > 12 ]",
         {"[ x = 1 ]"},
         .words = "it: can never match, whatever the pool holds.\n"},
        {"one that matches nothing now says that",
         "[ Constraint = other.x < 10 ]",
         {"[ x = 11 ]"},
         .words = "it: matches none of 1 offer now.\n"},
        {"in an empty pool no clause is blamed",
         "[ Constraint = other.x < 10 ]",
         {NULL},
         .words = "No offer satisfies",
         .missing = true},
        {"one that matches says what it gets, and why",
         "[ Rank = other.m ]",
         {"[ m = 1 ]", "[ m = 2 ]"},
         .words = "It gets offer1 rather than offer0 by self.Rank: 2 against 1.\n"},
        {"an edit is told in words",
         "[ Constraint = other.x < 10 ]",
         {"[ x = 11 ]"},
         .words = "with other.x <= 11 instead of other.x < 10\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pool pool;
        struct buf words;

        buf_init(&words);
        pool_explain(&pool, lang, &dialect_classic, rows[i].request, rows[i].offers,
                     !!rows[i].offers[0] + !!rows[i].offers[1], NULL);
        pool_prints(&pool, false, &words);
        if (!tap_ok(!strstr(buf_string(&words), rows[i].words) == rows[i].missing, "%s", rows[i].sentence))
            tap_diag("%s", buf_string(&words));
        buf_done(&words);
        pool_done(&pool);
    }
}

/* By and by: no slice is long, and all of them together tell the same. */
static void test_slices(struct lang *lang)
{
    static const struct env env = {.now = NOW};
    struct tree *offers[40], *request;
    const struct why_names names = {.request = "it", .offer = offer_name};
    struct explaining *run;
    struct policy policy;
    struct buf text, whole, sliced;
    struct why why;
    uint64_t most = 0, meter = 0, before;
    struct env counted = env;
    bool more = true;
    int slices = 0;

    buf_init(&text);
    buf_init(&whole);
    buf_init(&sliced);
    for (int i = 0; i < 40; i++) {
        buf_reset(&text);
        buf_addf(&text, "[ Memory = %d; Constraint = other.Size > %d ]", i, i);
        offers[i] = read_ad(lang, &dialect_classic, buf_string(&text));
    }
    buf_reset(&text);
    buf_adds(&text, "[ Size = 10; b0 = other.Memory; ");
    for (int i = 1; i < 12; i++)
        buf_addf(&text, "b%d = b%d + b%d; ", i, i - 1, i - 1);
    buf_adds(&text, "Constraint = other.Memory > 30 && b11 < 20000 ]");
    request = read_ad(lang, &dialect_classic, buf_string(&text));
    policy_init(&policy, NULL, NULL, NULL);
    why_explain(&why, &env, &lang->arena, &policy, request, offers, 40);
    why_print(&whole, &why, request, &names);
    why_done(&why);
    counted.meter = &meter;
    run = why_begin(&why, &counted, &lang->arena, &policy, request, offers, 40);
    while (more) {
        before = meter;
        more = why_go_on(run, 20000);
        most = more && meter - before > most ? meter - before : most;
        slices++;
    }
    why_end(run);
    why_print(&sliced, &why, request, &names);
    why_done(&why);
    tap_ok(strcmp(buf_string(&whole), buf_string(&sliced)) == 0, "an explanation that is made by and by is the same");
    tap_ok(slices > 5 && most < 20000 + 2 * EVAL_STEPS_MAX, "and no slice of it is long, whatever the request says");
    for (int i = 0; i < 40; i++)
        tree_unref(offers[i]);
    tree_unref(request);
    policy_done(&policy);
    buf_done(&text);
    buf_done(&whole);
    buf_done(&sliced);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    arena_alloc(&lang.arena, 1); /* so that a mark is the same after the first chunk */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&lang, &cases[i]);
    check_clauses_beyond(&lang, WHY_CLAUSES_MAX, WHY_CLAUSES_MAX - 1);
    check_clauses_beyond(&lang, WHY_CLAUSES_MAX + 1, 5);
    check_clauses_beyond(&lang, WHY_CLAUSES_MAX + 1, WHY_CLAUSES_MAX);
    check_clauses_beyond(&lang, 200, WHY_CLAUSES_MAX - 1);
    check_clauses_beyond(&lang, 200, 199);
    check_many_sets(&lang, 3);
    check_many_sets(&lang, 6);
    check_many_sets(&lang, 7);
    check_many_sets(&lang, 10);
    check_many_refusals(&lang, 5);
    check_many_refusals(&lang, WHY_REFUSALS_MAX);
    check_many_refusals(&lang, 40);
    check_words(&lang);
    test_slices(&lang);
    lang_done(&lang);
    return tap_done();
}
