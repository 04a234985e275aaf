// SPDX-License-Identifier: GPL-2.0-only
const net = require("net");
const [port, rounds, pieces] = process.argv.slice(2).map(Number);
let late = 0n, left = rounds, began;
const s = net.connect({ port, host: "127.0.0.1", noDelay: false }, ask);
function ask() {
	began = process.hrtime.bigint();
	if (pieces === 2) {
		s.write("head");
		s.write("b".repeat(200));
	} else {
		s.write("head" + "b".repeat(200));
	}
}
s.on("data", () => {
	const took = process.hrtime.bigint() - began;
	if (took >= 20000000n)
		late += took;
	if (--left)
		ask();
	else {
		console.log(String(late));
		s.destroy();
	}
});
