// Node as a host: kernels that fault between timers, WebAssembly whose bounds are checked by faults,
// worker threads, child processes, signals, the exit status.
//
//     node host.js FOLDER

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { Worker, isMainThread, workerData } = require('node:worker_threads');
const path = require('node:path');

const folder = isMainThread ? process.argv[2] : workerData;
const host = require(path.join(folder, 'host.node'));

// (module (memory 1) (func (export "load") (param i32) (result i32) local.get 0 i32.load))
const bytes = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 8, 1, 4, 108,
    111, 97, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11,
]);
const { load } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;

function round() {
    assert.strictEqual(host.right(), 0);
    assert.strictEqual(host.fault(), 0);
    assert.strictEqual(load(0), 0);
    assert.throws(() => load(1 << 20), WebAssembly.RuntimeError);
}

async function main() {
    for (let i = 0; i < 20; i++) {
        round();
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: folder });
        worker.on('error', reject);
        worker.on('exit', resolve);
    });
    assert.strictEqual(execFileSync('echo', ['child']).toString(), 'child\n');
    // Waiting for a signal does not keep the process alive, a timer does.
    const alive = setInterval(() => {}, 1000);
    await new Promise((resolve) => {
        process.once('SIGUSR2', resolve);
        process.kill(process.pid, 'SIGUSR2');
    });
    clearInterval(alive);
    round();
    console.log('Node is the host that it was');
    process.exit(7);
}

if (isMainThread) {
    main();
} else {
    round();
}
