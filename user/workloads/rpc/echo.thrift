// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the calls carry: an answer is a copy of its question. Thrift has no streams: what comes nearest are calls that are not answered.
namespace cpp echo

struct Place { 1: double x; 2: double y; 3: double z }
struct Structure {
  1: i32 id;
  2: i64 time;
  3: bool valid;
  4: string name;
  5: Place place;
  6: list<i32> values;
}

service Echo {
  i32 echoInt(1: i32 v)
  double echoDouble(1: double v)
  string echoText(1: string v)
  Structure echoStructure(1: Structure v)
  oneway void put(1: string v)
  i64 total()
}
