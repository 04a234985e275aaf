# SPDX-License-Identifier: GPL-2.0-only
# docs/monitoring: dashboard and rules ask for what is exported, the rules fire when they should, the unit is valid and its privileges suffice.
. "$(dirname "$0")/lib.sh"
docs=$here/docs/monitoring
needs_ledger

"$IPCSTALL" export --exact --once --interval 0.3s --format prometheus >"$WORK/metrics"
cat >"$WORK/names.py" <<'PY'
import json, re, sys
exported = set()
for line in open(sys.argv[1]):
    kind = re.match(r"# TYPE (\S+) (\S+)", line)
    if kind:
        exported |= {kind[1] + s for s in (["_bucket", "_count", "_sum"] if kind[2] == "histogram" else [""])}
names = re.compile(r"\b(?:ipcstall|process)_[a-z_]+\b")
asked = set()
board = json.load(open(sys.argv[2]))
exprs = [t["expr"] for p in board["panels"] for t in p.get("targets", [])] + [v.get("definition", "") for v in board["templating"]["list"]]
assert len(exprs) > 20, exprs
for text in exprs + [l.split("expr:")[1] for l in open(sys.argv[3]) if "expr:" in l]:
    asked |= set(names.findall(text))
table = set(re.findall(r"`((?:ipcstall|process)_[a-z_]+)`", open(sys.argv[4]).read()))
table |= {"ipcstall" + n[3:] for n in re.findall(r"`(\.\.\.[a-z_]+)`", open(sys.argv[4]).read()) if n.count("_") > 2}
assert not asked - exported, f"asked for, not exported: {sorted(asked - exported)}"
missing = {n for n in exported if not re.sub(r"_(bucket|count|sum)$", "", n) in table and n not in table}
assert not missing, f"exported, not in the table: {sorted(missing)}"
assert not {n for n in table if n not in exported and n + "_bucket" not in exported}, f"in the table, not exported: {sorted(table - exported)}"
ids = [p["id"] for p in board["panels"]]
assert len(ids) == len(set(ids))
PY
python3 "$WORK/names.py" "$WORK/metrics" "$docs/grafana-dashboard.json" "$docs/ipcstall-alerts.yml" "$docs/README.md" >"$WORK/out" 2>&1
check 'dashboard, rules and document name what is exported' "$(tail -1 "$WORK/out")" [ $? -eq 0 ]

# --- the unit ---
if command -v systemd-analyze >/dev/null 2>&1; then
	sed "s|/usr/local/bin/ipcstall|$(readlink -f "$IPCSTALL")|" "$docs/ipcstall-export.service" >"$WORK/ipcstall-export.service"
	systemd-analyze verify --man=no "$WORK/ipcstall-export.service" >"$WORK/out" 2>&1
	check 'systemd-analyze verify' "$(head -3 "$WORK/out")" [ $? -eq 0 ]
	if systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
		systemd-analyze security --offline=yes --threshold=30 "$WORK/ipcstall-export.service" >"$WORK/out" 2>&1
		check 'systemd-analyze security: at most 3.0' "$(tail -1 "$WORK/out")" [ $? -eq 0 ]
	fi
else
	echo 'skip unit: no systemd-analyze'
fi
make -s -C "$here" install DESTDIR="$WORK/root" PREFIX=/usr >"$WORK/out" 2>&1
check 'make install brings the unit, with the right path' "$(tail -1 "$WORK/out")" \
	grep -qx 'ExecStart=/usr/bin/ipcstall export $IPCSTALL_EXPORT_OPTIONS' "$WORK/root/usr/lib/systemd/system/ipcstall-export.service"

# --- its privileges: those of the unit, and no more, see the stall and whom to blame ---
caps=$(sed -n 's/^AmbientCapabilities=//p' "$docs/ipcstall-export.service" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	"$KNOWN" nagle n=100000 >/dev/null 2>&1 &
	known=$!
	cp "$(readlink -f "$IPCSTALL")" "$WORK/ipcstall"
	chmod 755 "$WORK" "$WORK/ipcstall"
	as() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps="-all,$1" --ambient-caps="-all,$1" --bounding-set="-all,$1" "${@:2}"; }
	as "$caps" "$WORK/ipcstall" export --exact --once --interval 1s >"$WORK/metrics" 2>"$WORK/err"
	check 'the privileges suffice' "$(cat "$WORK/err")" grep -qE '^ipcstall_blamed_stall_seconds_total\{process="known",.*cause="nagle",by="delayed-ack"\} (0\.[1-9]|[1-9])' "$WORK/metrics"
	as +bpf "$WORK/ipcstall" export --exact --once --interval 1s >/dev/null 2>"$WORK/err"
	rc=$?
	check 'fewer do not, in one line' "exit $rc: $(cat "$WORK/err")" [ "$rc $(wc -l <"$WORK/err")" = '3 1' ]
	kill $known
fi

# --- the rules ---
if ! command -v promtool >/dev/null 2>&1; then
	echo 'skip rules: promtool is not installed; apt-get install prometheus'
	finish
fi
promtool check rules "$docs/ipcstall-alerts.yml" >"$WORK/out" 2>&1
check 'promtool check rules' "$(tail -1 "$WORK/out")" [ $? -eq 0 ]
cat >"$WORK/test.yml" <<YML
rule_files: [ $docs/ipcstall-alerts.yml ]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'ipcstall_blamed_stall_seconds_total{instance="h", process="web", cgroup="/a", proto="tcp", cause="nagle", by="delayed-ack"}'
        values: '0+12x60'      # 0.2 of the time
      - series: 'ipcstall_blamed_stall_seconds_total{instance="h", process="calm", cgroup="/a", proto="tcp", cause="nagle", by="delayed-ack"}'
        values: '0+3x60'       # 0.05
      - series: 'ipcstall_blamed_stall_seconds_total{instance="h", process="copy", cgroup="/a", proto="pipe", cause="sndbuf", by="reader"}'
        values: '0+54x60'
      - series: 'ipcstall_withheld_ack_seconds_total{instance="h", process="srv", cgroup="/a", proto="tcp"}'
        values: '0+30x60'
      - series: 'ipcstall_lost_records_total{instance="h"}'
        values: '0x20 1+1x40'
      - series: 'ipcstall_dropped_endpoints_total{instance="h"}'
        values: '0x10 1+50x50'
      - series: 'up{job="ipcstall", instance="h"}'
        values: '1x30 0x30'
    alert_rule_test:
      - { eval_time: 8m, alertname: NagleMeetsDelayedAck }
      - eval_time: 20m
        alertname: NagleMeetsDelayedAck
        exp_alerts:
          - exp_labels: { severity: warning, instance: h, process: web, cgroup: /a }
            exp_annotations:
              summary: web waits for delayed ACKs
              description: "Its small writes wait for the peer's delayed ACK, 20% of the time. TCP_NODELAY here, TCP_QUICKACK at the peer, or one write for each message."
      - eval_time: 20m
        alertname: PeersWaitForDelayedAcks
        exp_alerts:
          - exp_labels: { severity: warning, instance: h, process: srv, cgroup: /a }
            exp_annotations:
              summary: other hosts wait for delayed ACKs of srv
              description: "They hold small writes back until its ACK comes, 50% of the time. TCP_QUICKACK after each read here, or TCP_NODELAY, or one write for each message, there."
      - eval_time: 30m
        alertname: ReaderIsSlow
        exp_alerts:
          - exp_labels: { severity: info, instance: h, process: copy, cgroup: /a, cause: sndbuf }
            exp_annotations:
              summary: copy waits for a reader on this host
              description: "What it sends is not read (sndbuf): see the reader with \`ipcstall top -f copy\`."
      - { eval_time: 15m, alertname: IpcstallDoesNotSeeAll }
      - eval_time: 40m
        alertname: IpcstallDoesNotSeeAll
        exp_alerts:
          - exp_labels: { severity: warning, instance: h }
            exp_annotations:
              summary: ipcstall on h does not see all
              description: "Records were lost, or endpoints found no room: raise --max-endpoints, or look at fewer processes."
      - { eval_time: 25m, alertname: IpcstallDropsEndpoints }
      - eval_time: 50m
        alertname: IpcstallDropsEndpoints
        exp_alerts:
          - exp_labels: { severity: info, instance: h }
            exp_annotations:
              summary: "on h more endpoints end between two readings than ipcstall keeps: some are counted as 'other'"
              description: "Raise --max-endpoints, or read oftener (--interval)."
      - { eval_time: 25m, alertname: IpcstallIsDown }
      - eval_time: 40m
        alertname: IpcstallIsDown
        exp_alerts:
          - exp_labels: { severity: warning, instance: h, job: ipcstall }
            exp_annotations: { summary: no metrics from ipcstall on h }
YML
promtool test rules "$WORK/test.yml" >"$WORK/out" 2>&1
check 'the rules fire when they should, and not before' "$(tail -25 "$WORK/out")" [ $? -eq 0 ]
finish
