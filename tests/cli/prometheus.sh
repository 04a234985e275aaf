# SPDX-License-Identifier: GPL-2.0-only
# Debian's prometheus scrapes ipcstall export, and answers queries and each panel of the dashboard.
. "$(dirname "$0")/lib.sh"
needs_ledger
command -v prometheus >/dev/null 2>&1 || { echo 'prometheus is not installed: apt-get install prometheus'; exit 77; }

serve_metrics
prom=$(free_port)
cat >"$WORK/prometheus.yml" <<YML
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: ipcstall
    static_configs: [ { targets: [ "127.0.0.1:$port" ] } ]
YML
prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/tsdb" --web.listen-address="127.0.0.1:$prom" \
	--log.level=warn >"$WORK/prometheus.log" 2>&1 &
jobs_to_end+=($!)
cat >"$WORK/query.py" <<'PY'
import json, sys, time, urllib.parse, urllib.request
url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?"

def query(q):
    return json.load(urllib.request.urlopen(url + urllib.parse.urlencode({"query": q})))["data"]["result"]

rate = 'sum by (cause) (rate(ipcstall_stall_seconds_total{process="known"}[10s]))'
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        up = query("up")
        by_cause = {r["metric"]["cause"]: float(r["value"][1]) for r in query(rate)}
        if up and up[0]["value"][1] == "1" and 0.5 < by_cause.get("nagle", 0):
            break
    except OSError:
        pass
    time.sleep(0.5)
assert up[0]["value"][1] == "1", up
# the known workload waits for a delayed ACK nearly all of its time, and for nothing else
assert 0.8 < by_cause["nagle"] < 1.2, by_cause
assert all(v < 0.05 for c, v in by_cause.items() if c != "nagle"), by_cause
median = query('histogram_quantile(0.5, sum by (le) (rate(ipcstall_stall_duration_seconds_bucket{cause="nagle"}[10s])))')
assert 0.03 < float(median[0]["value"][1]) < 0.066, median
blamed = query('sum by (by) (rate(ipcstall_blamed_stall_seconds_total{process="known",cause="nagle"}[10s]))')
assert blamed[0]["metric"]["by"] == "delayed-ack" and float(blamed[0]["value"][1]) > 0.8, blamed

# every panel of the dashboard is an answer of prometheus
board = json.load(open(sys.argv[2]))
empty = []
for panel in board["panels"]:
    for target in panel.get("targets", []):
        q = target["expr"].replace("$__rate_interval", "10s")
        for name in "instance", "process", "cgroup":
            q = q.replace("$" + name, ".*")
        if not query(q):
            empty.append(q)
assert not [q for q in empty if "drops" not in q], empty
PY
python3 "$WORK/query.py" "$prom" "$here/docs/monitoring/grafana-dashboard.json" >"$WORK/query.out" 2>&1
check 'prometheus scrapes, and PromQL tells the cause' "$(tail -2 "$WORK/query.out"; tail -2 "$WORK/prometheus.log")" [ $? -eq 0 ]
kill -TERM $exporter
wait $exporter
finish
