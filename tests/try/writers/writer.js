// SPDX-License-Identifier: GPL-2.0-only
// As writer.c. writer PORT [nodelay]
const net = require('net');

const socket = net.connect({ port: Number(process.argv[2]), host: '127.0.0.1', noDelay: process.argv.length > 3 });
const head = Buffer.alloc(16), body = Buffer.alloc(1000);
let owed = 0;

function sendMessage() {
	owed = 32;
	socket.write(head);
	socket.write(body); // the small piece
}

socket.on('connect', () => {
	socket.setNoDelay(process.argv.length > 3);
	sendMessage();
});
socket.on('data', (data) => {
	owed -= data.length;
	if (owed <= 0)
		sendMessage();
});
socket.on('close', () => process.exit(0));
socket.on('error', () => process.exit(0));
