// SPDX-License-Identifier: MIT
// Adds up the orders and writes a report, as it should; then reaches for what is not its business.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const from = path.join(__dirname, 'data', 'orders.csv');
const to = path.join(__dirname, 'out', 'report.md');

const orders = fs.readFileSync(from, 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
const total = orders.reduce((sum, [, count, price]) => sum + count * price, 0);
console.log(`read data/orders.csv: ${orders.length} orders, ${total.toFixed(2)} in total`);

fs.writeFileSync(to, `# Orders\n\n${orders.map(([item, count]) => `- ${count} ${item}\n`).join('')}\nTotal: ${total.toFixed(2)}\n`);
console.log('wrote out/report.md');

try {
	console.log(`read /etc/passwd: ${fs.readFileSync('/etc/passwd', 'utf8').split('\n').length} lines`);
} catch (error) {
	console.log(`could not read /etc/passwd: ${error.code}`);
}
