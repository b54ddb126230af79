// onnx_runtime.js MODEL n p THREADS: for every number of seconds read, the median seconds of the calls of that time.
// NODE_PATH says where onnxruntime-node is.
const ort = require('onnxruntime-node');
const readline = require('readline');

const [n, p, threads] = process.argv.slice(3).map(Number);
const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

async function main() {
  const session = await ort.InferenceSession.create(process.argv[2], {intraOpNumThreads: threads, interOpNumThreads: 1});
  const feeds = {};
  for (const name of ['query', 'key', 'value']) {
    feeds[name] = new ort.Tensor('float32', Float32Array.from({length: n * p}, normal), [1, n, p]);
  }
  for await (const line of readline.createInterface({input: process.stdin})) {
    await session.run(feeds);
    const times = [];
    let sum = 0;
    do {
      const start = process.hrtime.bigint();
      await session.run(feeds);
      times.push(Number(process.hrtime.bigint() - start) * 1e-9);
      sum += times[times.length - 1];
    } while (sum < Number(line));
    times.sort((a, b) => a - b);
    console.log(times[times.length >> 1]);
  }
}

main();
