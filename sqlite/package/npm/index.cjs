'use strict';

const fs = require('fs');
const path = require('path');
const { cpu, os } = require('./package.json');

/* npm installs a package only where `os` and `cpu` say so, unless it is forced to. */
function getLoadablePath() {
	if (!os.includes(process.platform) || !cpu.includes(process.arch)) {
		throw new Error(
			`sqlite-cuckoofilter: this package is built for ${os} ${cpu}, not for ` +
				`${process.platform} ${process.arch}; build the extension from its one C file, and load that`
		);
	}
	const library = path.join(__dirname, 'cuckoofilter.so');
	if (!fs.existsSync(library)) {
		throw new Error(`sqlite-cuckoofilter: ${library} is not there (a bundler may have left it out)`);
	}
	return library;
}

function load(db) {
	db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
