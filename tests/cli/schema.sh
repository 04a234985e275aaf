# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# --json-schema of the live commands: what they really write fits it, and what is wrong does not.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()
needs_ledger
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || { echo "python3-jsonschema 4 is not installed"; exit 77; }
cd "$WORK" || exit 70

for command in run attach replay; do
	works "schema: $command prints one" $command --json-schema && mv out "$command.json"
done
check 'schema: it is the same for all' 'they differ' cmp -s run.json attach.json
check 'schema: also of replay' 'they differ' cmp -s run.json replay.json
works 'schema: top prints one' top --json-schema && mv out top.json

talk() { timeout $HUNG "$KNOWN" nagle n=6; timeout $HUNG "$KNOWN" rwnd n=4; timeout $HUNG "$KNOWN" pipe-slow-reader n=4; timeout $HUNG "$KNOWN" udp-drops n=4; }
export -f talk; export KNOWN HUNG
"$IPCSTALL" run -q --stacks --threshold 1ms --json doc --ndjson lines -i 100ms -- bash -c talk >/dev/null 2>run.err
"$IPCSTALL" record -q -o rec --timeline -- bash -c talk >/dev/null
"$IPCSTALL" replay -q rec --json again --ndjson again.lines 2>/dev/null
"$KNOWN" nagle n=1000 >/dev/null &
jobs_to_end+=($!)
"$IPCSTALL" attach --exact -q -p $! -d 300ms --json attached
"$IPCSTALL" top --exact --json - --iterations 2 -i 0.3 -n 0 >top.lines

cat >judge.py <<'PY'
"""judge.py SCHEMA[#PART] FILE...: what does not fit. Each file is one document, or lines."""
import copy, json, sys
import jsonschema

name, _, part = sys.argv[1].partition("#")
schema = json.load(open(name))
jsonschema.Draft202012Validator.check_schema(schema)
if part:
    schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
check = jsonschema.Draft202012Validator(schema)


def holders(value):
    """every object below, so that each can be spoiled"""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from holders(inner)


def shape(value):
    """what keys it has, at any depth"""
    if isinstance(value, dict):
        return tuple((key, shape(inner)) for key, inner in sorted(value.items()))
    return tuple(sorted({shape(inner) for inner in value})) if isinstance(value, list) else ()


def one_of_each(value):
    """without those of a list that look like another"""
    if isinstance(value, dict):
        return {key: one_of_each(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        first = {shape(inner): inner for inner in reversed(value)}
        return [one_of_each(inner) for inner in first.values()]
    return value


def nearest(error):
    """what is wrong by that variant of which the least is wrong"""
    variants = {}
    for c in error.context:
        variants.setdefault(c.schema_path[0], []).append(f"{c.json_path}: {c.message[-90:]}")
    return min(variants.values(), key=len, default=[error.message[-90:]])[:3]


bad = 0
for path in sys.argv[2:]:
    docs = [json.loads(line) for line in open(path)]
    for doc in docs:
        for e in check.iter_errors(doc):
            bad += 1
            print(path, e.json_path, e.message[:60], "...:", *nearest(e))
    spoilt = one_of_each(copy.deepcopy(docs[-1]))
    if not check.is_valid(spoilt):
        bad += 1
        print(path, "a shorter list does not fit")
    # the machine's facts are not listed; of the many of one kind some will do
    kinds = {tuple(h): h for h in holders(spoilt) if "hostname" not in h}
    for holder in kinds.values():
        holder["not a key"] = 1
        if check.is_valid(spoilt):
            bad += 1
            print(path, "a key too many passes beside", sorted(holder)[:5])
        del holder["not a key"]
sys.exit(bad > 0)
PY
fits() { # DOC SCHEMA: the last line of DOC is spoilt too
	local said
	if said=$(python3 judge.py "$2" "$1" 2>&1); then pass "schema: $1 fits"; else fail "schema: $1 fits" "$(head -5 <<<"$said")"; fi
}
fits doc run.json
fits again run.json
fits attached run.json
fits lines 'run.json#line'
fits again.lines 'run.json#line'
fits top.lines top.json
check 'schema: there are stalls with stacks in it' "$(head -c 200 doc)" grep -q '"user_stack":\["' doc
check 'schema: there are lines of every kind' "$(cut -c1-60 lines | sort | uniq -c)" \
	[ "$(grep -oE '^\{"(type":"[a-z]*"|schema)' lines | sort -u | wc -l)" -eq 5 ]
finish
