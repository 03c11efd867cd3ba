'use strict';

const fs = require('fs');
const path = require('path');

/* The library of this machine, which lib has in PLATFORM-PROCESSOR. */
function getLoadablePath() {
	const machine = `${process.platform}-${process.arch}`;
	const name = process.platform === 'win32' ? 'cuckoofilter.dll' : 'cuckoofilter.so';
	const library = path.join(__dirname, 'lib', machine, name);
	if (!fs.existsSync(library)) {
		throw new Error(
			`sqlite-cuckoofilter: ${library} is not there: this package has libraries for ${machines()}.  ` +
				'Build the extension from its one C file, or look whether a bundler has left it out'
		);
	}
	return library;
}

function machines() {
	try {
		return fs.readdirSync(path.join(__dirname, 'lib')).sort().join(', ');
	} catch {
		return 'no machine';
	}
}

function load(db) {
	db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
