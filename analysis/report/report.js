// SPDX-License-Identifier: GPL-2.0-only
// The charts of a report: hover for values, click a size for its ledger, drag over the strip of a time line. Nothing is fetched.
"use strict";
(() => {
	const views = JSON.parse(document.getElementById("views").textContent);
	const tip = document.getElementById("tip");
	const STALL = new Set(["rwnd", "cwnd", "nagle", "cork", "pacing", "recovery", "sndbuf"]);
	const KNOWN = new Set([...STALL, "work", "device", "flight", "idle", "wait", "unread"]);
	const DASHES = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 2", "12 3", "3 6"];
	const colour = (state) => `var(--${KNOWN.has(state) ? state : "recovery"})`;

	// --- text and nodes -----------------------------------------------------------------------------------------

	const scaled = (v, steps) => {
		if (v === null || v === undefined) return "–";
		const [scale, unit] = steps.find(([s]) => Math.abs(v) >= s * 0.9995) || steps[steps.length - 1];
		const n = v / scale;
		return `${Math.abs(n) >= 100 ? n.toFixed(0) : String(Number(n.toPrecision(3)))} ${unit}`;
	};
	const time = (ns) => scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
	const rate = (v) => scaled(v, [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]]);
	const percent = (v) => (v === null || v === undefined ? "–" : v > 0 && v < 0.0005 ? "< 0.1 %" : `${(100 * v).toFixed(1)} %`);
	const whole = (v) => String(Math.round(v)).replace(/\B(?=(\d{3})+$)/g, ",");
	const inUnit = (unit) => ({ ns: time, "B/s": rate, "%": percent })[unit];
	const across = (view, v) => (view.bytes ? `${whole(v)} bytes` : view.times ? time(v) : String(v));

	const fill = (node, attrs, kids) => {
		for (const [k, v] of Object.entries(attrs || {})) k === "style" ? (node.style.cssText = v) : node.setAttribute(k, v);
		node.append(...kids);
		return node;
	};
	const h = (tag, attrs, ...kids) => fill(document.createElement(tag), attrs, kids);
	const s = (tag, attrs, ...kids) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, kids);

	const showTip = (event, text) => {
		tip.textContent = text;
		tip.hidden = false;
		const box = tip.getBoundingClientRect();
		const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14;
		tip.style.left = `${Math.max(4, x)}px`;
		tip.style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - box.height - 4))}px`;
	};
	const hideTip = () => { tip.hidden = true; };
	const tipped = (node, text) => {
		node.addEventListener("pointermove", (e) => showTip(e, text));
		node.addEventListener("pointerleave", hideTip);
		return node;
	};

	// --- axes ---------------------------------------------------------------------------------------------------

	const linear = (lo, hi, a, b) => (v) => a + ((v - lo) / (hi - lo || 1)) * (b - a);
	const logarithmic = (lo, hi, a, b) => (v) => a + ((Math.log(v) - Math.log(lo)) / (Math.log(hi) - Math.log(lo) || 1)) * (b - a);
	const niceTicks = (lo, hi, most) => {
		const raw = (hi - lo) / Math.max(1, most) || 1;
		const power = 10 ** Math.floor(Math.log10(raw));
		const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= raw);
		const out = [];
		for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step) out.push(Number(v.toPrecision(12)));
		return out;
	};
	const decades = (lo, hi, most) => {
		const out = [];
		for (let p = Math.ceil(Math.log10(lo) - 1e-9); p <= Math.log10(hi) + 1e-9; p++) out.push(10 ** p);
		if (out.length >= 2) return out.filter((_, i) => i % Math.ceil(out.length / most) === 0);
		return [...new Set([lo, Math.sqrt(lo * hi), hi].map((v) => Number(v.toPrecision(1))))].filter((v) => v >= lo && v <= hi);
	};
	/* Which of these labels stand beside each other without touching. */
	const roomy = (ticks, at, text) => {
		let end = -Infinity;
		return ticks.filter((v) => {
			const half = text(v).length * 3.6 + 4;
			if (at(v) - half < end) return false;
			end = at(v) + half;
			return true;
		});
	};

	// --- curves over sizes ----------------------------------------------------------------------------------------

	const LEFT = 62, RIGHT = 24, BOTTOM = 40, TOP = 28;

	const curvesFrame = (view, width) => {
		const known = view.curves.flatMap((c) => [...c.y, ...c.lo, ...c.hi]).filter((v) => v !== null && v > 0);
		const lo = Math.min(...known), hi = Math.max(...known), log = hi / lo > 30;
		const x0 = view.x[0], x1 = view.x[view.x.length - 1], wide = x0 > 0 && x1 / x0 > 60;
		const pad = wide ? 0 : (x1 - x0) * 0.03;
		const height = width < 500 ? 200 : 260, share = view.curves.some((c) => c.share.some((v) => v !== null)) ? 96 : 0;
		const x = (wide ? logarithmic : linear)(x0 - pad, x1 + pad, LEFT, width - RIGHT);
		const y = log ? logarithmic(lo * 0.8, hi * 1.25, height, TOP) : linear(0, hi * 1.06, height, TOP);
		const shareTop = height + 34;
		return { x, y, log, lo, hi, x0, x1, wide, height, share, shareTop, bottom: share ? shareTop + share : height, width };
	};

	const yAxis = (svg, f, view) => {
		const text = inUnit(view.unit);
		const ticks = f.log ? decades(f.lo * 0.8, f.hi * 1.25, 6) : niceTicks(0, f.hi * 1.06, 5);
		for (const v of ticks) {
			svg.append(s("line", { class: "grid", x1: LEFT, x2: f.width - RIGHT, y1: f.y(v), y2: f.y(v) }),
				s("text", { x: LEFT - 6, y: f.y(v) + 4, "text-anchor": "end" }, v ? text(v) : "0"));
		}
	};

	const xAxis = (svg, f, view) => {
		const label = (v) => (view.times ? time(v) : whole(v) === String(v) || view.bytes ? whole(v) : String(v));
		const ticks = view.x.length <= 10 || f.wide ? view.x : niceTicks(f.x0, f.x1, f.width / 90);
		for (const v of roomy(ticks, f.x, label)) svg.append(s("text", { x: f.x(v), y: f.bottom + 16, "text-anchor": "middle" }, label(v)));
		const words = view.bytes ? `${view.across} (bytes)` : view.across;
		svg.append(s("text", { x: (LEFT + f.width - RIGHT) / 2, y: f.bottom + 34, "text-anchor": "middle", class: "strong" }, words));
	};

	const path = (xs, ys, x, y) => {
		let out = "", pen = "M";
		xs.forEach((v, i) => {
			if (ys[i] === null || ys[i] === undefined) { pen = "M"; return; }
			out += `${pen}${x(v).toFixed(1)},${y(ys[i]).toFixed(1)}`;
			pen = "L";
		});
		return out;
	};

	const curve = (svg, f, view, c, i) => {
		const stroke = `stroke:var(--curve${i % 8})`;
		view.x.forEach((v, j) => {
			if (c.hi[j] !== null && c.hi[j] > c.lo[j])
				svg.append(s("line", { x1: f.x(v), x2: f.x(v), y1: f.y(Math.max(c.lo[j], f.lo)), y2: f.y(c.hi[j]), style: `${stroke};opacity:.5` }));
		});
		svg.append(s("path", { d: path(view.x, c.y, f.x, f.y), fill: "none", style: `${stroke};stroke-width:2`, "stroke-dasharray": DASHES[i % 8] }));
		const radius = view.x.length > 60 ? 1.5 : 3.2;
		view.x.forEach((v, j) => {
			if (c.y[j] !== null) svg.append(s("circle", { cx: f.x(v), cy: f.y(c.y[j]), r: radius, style: `fill:var(--curve${i % 8})` }));
		});
	};

	const shares = (svg, f, view) => {
		if (!f.share) return;
		const y = linear(0, 1, f.bottom, f.shareTop);
		for (const v of [0, 0.5, 1])
			svg.append(s("line", { class: "grid", x1: LEFT, x2: f.width - RIGHT, y1: y(v), y2: y(v) }),
				s("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, `${100 * v} %`));
		svg.append(s("text", { x: 0, y: f.shareTop - 12, class: "strong" },
			"stalled share of the time, the end that stalled most"));
		view.curves.forEach((c, i) => {
			svg.append(s("path", { d: path(view.x, c.share.map((v) => (v === null ? null : Math.min(v, 1))), f.x, y), fill: "none",
				style: `stroke:var(--curve${i % 8});stroke-width:2`, "stroke-dasharray": DASHES[i % 8] }));
			view.x.forEach((v, j) => {
				if (c.share[j] !== null && view.x.length <= 60)
					svg.append(s("circle", { cx: f.x(v), cy: y(Math.min(c.share[j], 1)), r: 2.6, style: `fill:var(--curve${i % 8})` }));
			});
		});
	};

	const curveKeys = (view) => {
		const list = h("ul", { class: "keys" });
		view.curves.forEach((c, i) => list.append(h("li", { class: "line", style: `--key:var(--curve${i % 8});--on:${(DASHES[i % 8] || "99").split(" ")[0]}px` }, c.label)));
		if (view.dips.length) list.append(h("li", { style: "--key:var(--dip)", title: view.test_words || "" }, "sizes in a dip: slower than the fix or the trend beyond noise"));
		return list;
	};

	const nearest = (f, view, px) => view.x.reduce((best, v, i) => (Math.abs(f.x(v) - px) < Math.abs(f.x(view.x[best]) - px) ? i : best), 0);

	const curveWords = (view, i) => {
		const lines = [`${across(view, view.x[i])}${(view.dipped || []).includes(view.x[i]) ? ": in a dip" : ""}`];
		for (const c of view.curves)
			if (c.y[i] !== null) lines.push(`${c.label}: ${inUnit(view.unit)(c.y[i])}${c.share[i] === null ? "" : `, stalled ${percent(c.share[i])}`}`);
		return lines.join("\n");
	};

	const drawCurves = (holder, panel, view) => {
		const width = Math.max(260, holder.clientWidth), f = curvesFrame(view, width);
		const svg = s("svg", { viewBox: `0 0 ${width} ${f.bottom + BOTTOM}`, height: f.bottom + BOTTOM, tabindex: 0, role: "img",
			"aria-label": `${view.words} against ${view.across}; arrow keys choose a point` });
		for (const [a, b] of view.dips) {
			const from = Math.max(LEFT, f.x(Math.max(a, 1))), to = Math.min(width - RIGHT, f.x(b));
			svg.append(s("rect", { class: "dip", x: from, y: TOP, width: Math.max(1, to - from), height: f.bottom - TOP, style: "fill:var(--dip)" }));
		}
		yAxis(svg, f, view);
		svg.append(s("text", { x: 0, y: 14, class: "strong" }, `${view.words}${f.log ? " (log scale)" : ""}`));
		xAxis(svg, f, view);
		const chosen = s("line", { y1: TOP, y2: f.bottom, style: "stroke:var(--text);stroke-width:1.5" });
		const cross = s("line", { y1: TOP, y2: f.bottom, style: "stroke:var(--quiet);stroke-dasharray:3 3;visibility:hidden" });
		svg.append(chosen, cross);
		view.curves.forEach((c, i) => curve(svg, f, view, c, i));
		shares(svg, f, view);
		const at = (line, i) => { line.setAttribute("x1", f.x(view.x[i])); line.setAttribute("x2", f.x(view.x[i])); };
		const pick = (i) => { view.picked = i; at(chosen, i); drawPanel(panel, view); };
		svg.addEventListener("pointermove", (e) => {
			const i = nearest(f, view, ((e.clientX - svg.getBoundingClientRect().left) * width) / svg.getBoundingClientRect().width);
			at(cross, i);
			cross.style.visibility = "visible";
			showTip(e, curveWords(view, i));
		});
		svg.addEventListener("pointerleave", () => { cross.style.visibility = "hidden"; hideTip(); });
		svg.addEventListener("click", (e) => pick(nearest(f, view, ((e.clientX - svg.getBoundingClientRect().left) * width) / svg.getBoundingClientRect().width)));
		svg.addEventListener("keydown", (e) => {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
			if (!step) return;
			e.preventDefault();
			pick(Math.max(0, Math.min(view.x.length - 1, view.picked + step)));
		});
		at(chosen, view.picked);
		holder.replaceChildren(curveKeys(view), svg);
	};

	// --- ledgers ----------------------------------------------------------------------------------------------------

	const sideOf = (side) => {
		const bar = h("div", { class: "bar" }), rows = h("tbody");
		const sorted = [...side.states].sort((a, b) => b[1] - a[1]);
		for (const [name, ns, count, longest] of side.states) {
			const text = `${name}${STALL.has(name) ? " (stall)" : ""}: ${percent(ns / side.life)}, ${time(ns)}, ${count === null ? "–" : whole(count)} times, longest ${time(longest)}`;
			bar.append(tipped(h("span", { class: STALL.has(name) ? "stall" : "", style: `--key:${colour(name)};width:${(100 * ns) / side.life}%` }), text));
		}
		for (const [name, ns, count, longest] of sorted.filter((r, i) => r[1] / side.life >= 0.005 || i === 0))
			rows.append(h("tr", {}, h("td", { class: STALL.has(name) ? "stall" : "", style: `--key:${colour(name)}` }, STALL.has(name) ? h("b", {}, name) : name),
				h("td", {}, percent(ns / side.life)), h("td", {}, time(ns)), h("td", {}, count === null ? "–" : whole(count)), h("td", { class: "far" }, time(longest))));
		const head = h("tr", {}, h("th", {}, side.word), h("th", {}, "share"), h("th", {}, "time"), h("th", {}, "times"), h("th", { class: "far" }, "longest"));
		return [bar, h("table", { class: "states" }, h("thead", {}, head), rows)];
	};
	const endOf = (end) => h("div", { class: "end" }, h("p", {}, h("b", {}, end.name), " ", h("span", { class: "where" }, end.where)), ...end.sides.flatMap(sideOf));

	const drawLedgers = (holder, panel, view) => {
		panel.replaceChildren(...view.ends.map((e) => h("section", {}, endOf(e))));
		if (view.left > 0) panel.append(h("p", { class: "note" }, `${view.left} more endpoint${view.left > 1 ? "s" : ""} without stall: see the table and the data.`));
		holder.replaceChildren();
	};

	// --- what one size's points say -----------------------------------------------------------------------------------

	const histogram = (bins, width, i, range) => {
		const height = 84, x = logarithmic(range[0], range[1], 4, width - 4), top = Math.max(...bins.map((b) => b[2]));
		const total = bins.reduce((sum, b) => sum + b[2], 0);
		const svg = s("svg", { viewBox: `0 0 ${width} ${height + 20}`, height: height + 20, role: "img", "aria-label": "distribution of latency" });
		for (const [lo, hi, n] of bins)
			if (n) svg.append(tipped(s("rect", { x: x(lo), width: Math.max(1, x(hi) - x(lo) - 0.5), y: height - Math.max(1.5, (n / top) * (height - 4)), height: Math.max(1.5, (n / top) * (height - 4)),
				style: `fill:var(--curve${i % 8})` }), `${time(lo)} to ${time(hi)}: ${percent(n / total)}, ${whole(n)} messages`));
		svg.append(s("line", { class: "grid", x1: 0, x2: width, y1: height, y2: height }));
		for (const v of roomy(decades(range[0], range[1], 5), x, time)) svg.append(s("text", { x: Math.min(Math.max(x(v), 18), width - 22), y: height + 15, "text-anchor": "middle" }, time(v)));
		return h("div", { class: "drawing" }, h("p", { class: "facts-line" }, "latencies of the messages"), svg);
	};

	const drawPanel = (panel, view) => {
		const points = view.points[view.picked] || [];
		const bins = points.flatMap((p) => (p && p.histogram) || []).filter((b) => b[2]);
		const range = bins.length ? [Math.min(...bins.map((b) => b[0])), Math.max(...bins.map((b) => b[1]))] : null;
		const kids = view.x.length > 1 ? [h("h3", {}, `At ${across(view, view.x[view.picked])}`)] : [];
		points.forEach((p, i) => {
			if (!p) return;
			const facts = h("p", { class: "facts-line" });
			p.facts.forEach(([name, v, unit], k) => facts.append(k ? " · " : "", `${name} `, h("b", {}, inUnit(unit)(v))));
			const section = h("section", {}, ...(view.curves.length > 1 ? [h("h3", { style: `color:var(--curve${i % 8})` }, view.curves[i].label)] : []), facts);
			if (p.histogram) section.append(histogram(p.histogram, Math.max(240, Math.min(panel.clientWidth || 400, 520)), i, range));
			section.append(h("div", { class: "ends" }, ...p.ends.map(endOf)));
			kids.push(section);
		});
		panel.replaceChildren(...kids);
	};

	// --- time line ------------------------------------------------------------------------------------------------------

	const LANE = 22, NAME = 16;

	/* One rectangle for each run of pixels in one state: what is narrower than a pixel is told by the state that holds most of it. */
	const pieces = (spans, from, to, x) => {
		const out = [];
		let pixel = null;
		const flush = () => {
			if (!pixel) return;
			const [state] = Object.entries(pixel.time).sort((a, b) => b[1] - a[1])[0];
			out.push([pixel.at, pixel.at + 1, state, pixel.start, pixel.end]);
			pixel = null;
		};
		for (const [a, b, state] of spans) {
			if (b <= from || a >= to) continue;
			const left = x(Math.max(a, from)), right = x(Math.min(b, to));
			if (right - left >= 1) { flush(); out.push([left, right, state, a, b]); continue; }
			if (!pixel || Math.floor(left) !== pixel.at) { flush(); pixel = { at: Math.floor(left), time: {}, start: a, end: b }; }
			pixel.time[state] = (pixel.time[state] || 0) + (b - a);
			pixel.end = b;
		}
		flush();
		return out;
	};

	const laneRects = (svg, lane, from, to, x, y, height, told) => {
		for (const [left, right, state, a, b] of pieces(lane.spans, from, to, x)) {
			const rect = s("rect", { x: left, y, width: Math.max(right - left, 0.6), height, style: `fill:${colour(state)}` });
			svg.append(told ? tipped(rect, `${lane.name}, ${lane.word}\n${state}${STALL.has(state) ? " (stall)" : ""}: ${time(b - a)}\nfrom ${time(a)} on`) : rect);
		}
	};

	const timeAxis = (svg, from, to, x, y) => {
		const scale = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([v]) => to - from >= v) || [1, "ns"];
		const text = (v) => `${Number((v / scale[0]).toPrecision(6))} ${scale[1]}`;
		const half = (v) => text(v).length * 3.6 + 2;
		const at = (v) => Math.min(Math.max(x(v), x(from) + half(v)), x(to) - half(v));
		for (const v of roomy(niceTicks(from, to, 7), at, text)) svg.append(s("text", { x: at(v), y, "text-anchor": "middle" }, text(v)));
	};

	const detail = (view, width, window) => {
		const [from, to] = window, x = linear(from, to, 0, width), row = LANE + NAME + 12;
		const height = view.lanes.length * row + 24;
		const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "states of each end against time" });
		const marks = view.marks.filter((m) => m[0] >= from && m[0] <= to);
		view.lanes.forEach((lane, i) => {
			const y = i * row + NAME;
			svg.append(s("text", { x: 0, y: y - 4, class: "strong" }, `${lane.name}, ${lane.word}`));
			laneRects(svg, lane, from, to, x, y, LANE, true);
			if (lane.word !== "writes" || marks.length > 400) return;
			for (const [t, ep, what] of marks)
				if (ep === lane.ep) svg.append(tipped(s("path", { d: `M${x(t) - 3},${y + LANE + 8}L${x(t)},${y + LANE + 1}L${x(t) + 3},${y + LANE + 8}Z`, style: "fill:var(--text)" }), `${what} at ${time(t)}`));
		});
		timeAxis(svg, from, to, x, height - 6);
		return svg;
	};

	const drawTimeline = (holder, panel, view) => {
		const width = Math.max(260, holder.clientWidth), strip = 12, height = view.lanes.length * (strip + 3) + 4;
		view.window = view.window || [...view.start];
		const x = linear(0, view.length, 0, width), below = h("div");
		const over = s("svg", { class: "brush", viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "slider", "aria-label": "which part of the time is shown", "aria-valuetext": "", style: "cursor:crosshair;touch-action:none" });
		view.lanes.forEach((lane, i) => laneRects(over, lane, 0, view.length, x, 2 + i * (strip + 3), strip, false));
		const shade = s("rect", { y: 0, height, class: "window", style: "fill:var(--text);fill-opacity:.12;stroke:var(--text);stroke-width:1.5" });
		over.append(shade);
		const show = (from, to) => {
			const least = view.length / 5000;
			view.window = [Math.max(0, Math.min(from, view.length - least)), Math.min(view.length, Math.max(to, from + least))];
			shade.setAttribute("x", x(view.window[0]));
			shade.setAttribute("width", Math.max(2, x(view.window[1]) - x(view.window[0])));
			over.setAttribute("aria-valuetext", `${time(view.window[0])} to ${time(view.window[1])}`);
			below.replaceChildren(detail(view, width, view.window));
		};
		const when = (e) => ((e.clientX - over.getBoundingClientRect().left) / over.getBoundingClientRect().width) * view.length;
		let began = null;
		over.addEventListener("pointerdown", (e) => { began = when(e); over.setPointerCapture(e.pointerId); });
		over.addEventListener("pointermove", (e) => { if (began !== null) show(Math.min(began, when(e)), Math.max(began, when(e))); });
		over.addEventListener("pointerup", (e) => {
			const half = (view.window[1] - view.window[0]) / 2;
			if (began !== null && Math.abs(when(e) - began) < view.length / 300) show(began - half, began + half);
			began = null;
		});
		over.addEventListener("keydown", (e) => {
			const step = (view.window[1] - view.window[0]) / 4, [a, b] = view.window;
			const moved = { ArrowLeft: [a - step, b - step], ArrowRight: [a + step, b + step], "+": [a + step, b - step], "-": [a - step, b + step] }[e.key];
			if (moved) { e.preventDefault(); show(...moved); }
		});
		const there = new Set(view.lanes.flatMap((l) => l.spans.map((p) => p[2])));
		const keys = h("ul", { class: "keys" }, ...[...there].map((st) => h("li", { style: `--key:${colour(st)}` }, STALL.has(st) ? `${st} (stall)` : st)));
		holder.replaceChildren(keys, over, below);
		show(...view.window);
	};

	// --- the page ---------------------------------------------------------------------------------------------------------

	const draw = (figure) => {
		const view = views.sets[figure.dataset.set][figure.dataset.view];
		const holder = figure.querySelector(".drawing"), panel = figure.querySelector(".panel");
		if (view.kind === "timeline") drawTimeline(holder, panel, view);
		else if (view.kind === "ledgers") drawLedgers(holder, panel, view);
		else {
			if (view.x.length > 1) drawCurves(holder, panel, view);
			drawPanel(panel, view);
		}
	};
	const figures = [...document.querySelectorAll("figure.chart")];
	figures.forEach(draw);
	let drawn = document.body.clientWidth;
	new ResizeObserver(() => {
		if (document.body.clientWidth === drawn) return;
		drawn = document.body.clientWidth;
		figures.forEach(draw);
	}).observe(document.body);

	for (const button of document.querySelectorAll(".copy")) {
		button.hidden = false;
		button.addEventListener("click", () => {
			const text = button.parentElement.querySelector("code").textContent;
			const done = () => { button.textContent = "Copied"; };
			const select = () => getSelection().selectAllChildren(button.parentElement.querySelector("code"));
			navigator.clipboard ? navigator.clipboard.writeText(text).then(done, select) : select();
		});
	}
	addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
