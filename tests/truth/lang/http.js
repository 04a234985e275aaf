// SPDX-License-Identifier: GPL-2.0-only
const [port, think] = process.argv.slice(2).map(Number);
require("http").createServer((q, r) => setTimeout(() => r.end("x".repeat(1000)), think || 0)).listen(port, "127.0.0.1");
