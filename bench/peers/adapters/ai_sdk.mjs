// The Vercel AI SDK on Node.js: its mock model in process, @ai-sdk/openai-compatible over the network.
//
//     node ai_sdk.mjs MODULES WORKLOAD BUDGET PARAMS
//
// MODULES is the folder in which the packages are installed. It speaks as bench/worker.py does: first how many
// operations fit into BUDGET (CPU seconds), then, for each line that it reads, one measurement.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [modules, workload, budget, given] = process.argv.slice(2);
const resolve = createRequire(`${modules}/package.json`).resolve;
const load = name => import(pathToFileURL(resolve(name)));
const { generateText, streamText, tool, jsonSchema, isStepCount, Output } = await load('ai');
const { MockLanguageModelV4 } = await load('ai/test');

const params = { steps: 10, calls: 1, deltas: 1000, size: 20000, url: '', options: 'n=16', ...JSON.parse(given) };
const usage = { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 20, text: 20 } };
const stop = { unified: 'stop', raw: 'stop' };
const text = said => ({ content: [{ type: 'text', text: said }], finishReason: stop, usage, warnings: [] });
const WARM_UPS = 2000; // single operations, until the compiler has seen enough

function mock(methods) {
  const model = new MockLanguageModelV4(methods);
  model.doGenerateCalls = { push() {} }; // it would keep every call
  model.doStreamCalls = { push() {} };
  return model;
}

function streamOf(deltas) {
  let next = -1;
  return new ReadableStream({
    pull(controller) {
      if (next < 0) {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'text-start', id: '0' });
        next = 0;
      } else if (next < deltas.length) {
        controller.enqueue({ type: 'text-delta', id: '0', delta: deltas[next++] });
      } else {
        controller.enqueue({ type: 'text-end', id: '0' });
        controller.enqueue({ type: 'finish', finishReason: stop, usage });
        controller.close();
      }
    },
  });
}

const add = tool({
  description: 'Add two numbers.',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
  }),
  execute: async ({ a, b }) => a + b,
});

function expect(condition, found) {
  if (!condition) throw new Error(`the workload gave ${JSON.stringify(found)}`);
}

function repeated(one, unit = 1) {
  return {
    unit,
    run: async operations => {
      for (let left = Math.max(1, Math.floor(operations / unit)); left > 0; left--) await one();
    },
  };
}

function streamed(make) {
  return repeated(async () => {
    let count = 0;
    for await (const delta of make().textStream) if (delta) count++;
    expect(count === params.deltas, count);
  }, params.deltas);
}

function running(model, unit = 1) {
  const more = unit > 1 ? { tools: { add }, stopWhen: isStepCount(params.steps + 2) } : {};
  return repeated(async () => {
    const result = await generateText({ model, prompt: 'hi', ...more });
    expect(result.text, result.text);
  }, unit);
}

function deltasOfObject(size) {
  const items = [];
  for (let used = 0; used < size; ) {
    const id = items.length;
    const item = { id, name: `item number ${id}`, tags: ['red', 'green', 'blue'], score: id * 0.5, ok: id % 2 === 0 };
    used += JSON.stringify(item).length + 1;
    items.push(item);
  }
  return JSON.stringify({ title: 'report', items }).match(/.{1,16}/gs);
}

async function networkModel() {
  const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
  const baseURL = `${params.url}/${params.options}/v1`;
  return createOpenAICompatible({ name: 'fake', baseURL, apiKey: 'x', includeUsage: true })('fake-1');
}

const setups = {
  generate: () => running(mock({ doGenerate: async () => text('hello') })),
  stream: () => {
    const deltas = Array(params.deltas).fill('tok ');
    const model = mock({ doStream: async () => ({ stream: streamOf(deltas) }) });
    return streamed(() => streamText({ model, prompt: 'hi' }));
  },
  loop: () => {
    const doGenerate = async ({ prompt }) => {
      const step = Math.floor((prompt.length - 1) / 2);
      if (step >= params.steps) return text('done');
      const content = Array.from({ length: params.calls }, (_, number) => ({
        type: 'tool-call',
        toolCallId: `c${step}_${number}`,
        toolName: 'add',
        input: `{"a":${step},"b":${number}}`,
      }));
      return { content, finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [] };
    };
    return running(mock({ doGenerate }), params.steps);
  },
  object: () => {
    const deltas = deltasOfObject(params.size);
    const model = mock({ doStream: async () => ({ stream: streamOf(deltas) }) });
    const output = Output.object({ schema: jsonSchema({ type: 'object' }) });
    return repeated(async () => {
      let last;
      for await (last of streamText({ model, prompt: 'hi', output }).partialOutputStream);
      expect(last.items.length > 1, last);
    });
  },
  network_generate: async () => running(await networkModel()),
  network_loop: async () => running(await networkModel(), params.steps),
  network_stream: async () => {
    const model = await networkModel();
    return streamed(() => streamText({ model, prompt: 'hi' }));
  },
};

function cpu() {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e6;
}

async function measure({ run }, operations) {
  globalThis.gc?.();
  const wall = performance.now();
  const before = cpu();
  await run(operations);
  return { operations, cpu: cpu() - before, wall: (performance.now() - wall) / 1000, extra: {} };
}

async function fitting(ready, wanted) {
  if (workload === 'generate') await ready.run(WARM_UPS);
  for (let operations = ready.unit; ; ) {
    const { cpu: used } = await measure(ready, operations);
    const factor = wanted / Math.max(used, 1e-4);
    const next = Math.max(1, Math.round((operations * Math.min(20, factor)) / ready.unit)) * ready.unit;
    if (used >= wanted / 2) return next;
    operations = Math.max(next, operations + ready.unit);
  }
}

const answer = found => process.stdout.write(`${JSON.stringify(found)}\n`);
const ready = await setups[workload]();
const operations = await fitting(ready, Number(budget));
answer({ ready: operations });
for await (const _ of createInterface({ input: process.stdin })) answer(await measure(ready, operations));
process.exit(0);
