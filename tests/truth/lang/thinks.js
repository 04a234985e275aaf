// SPDX-License-Identifier: GPL-2.0-only
// A server that thinks 100 ms and a client that asks 10 times, on one connection, in two processes. Prints what the client waited, in ns.
const http = require('http');

if (process.argv[2] === 'client') {
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	let left = 10, took = 0n;
	const ask = () => {
		const began = process.hrtime.bigint();
		http.get({ port: process.argv[3], host: '127.0.0.1', agent }, (res) => {
			res.resume();
			res.on('end', () => {
				took += process.hrtime.bigint() - began;
				if (--left)
					return setImmediate(ask);
				console.log(String(took));
				process.exit(0);
			});
		});
	};
	ask();
} else {
	const server = http.createServer((req, res) => setTimeout(() => res.end('ok'), 100));
	server.listen(0, '127.0.0.1', () => {
		require('child_process').spawn(process.execPath, [__filename, 'client', server.address().port], { stdio: ['ignore', 'inherit', 'inherit'] })
			.on('exit', () => process.exit(0));
	});
}
