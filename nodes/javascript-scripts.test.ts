/** Scripts as people write them, in the nodes that run them, on the real workers: what comes out is what `rule-engine.md` 6.1 and 6.2 say. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createScriptHost } from '../engine/script/host.ts'
import { createJavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import { systemClock } from '../model/system-clock.ts'
import { testRandom } from '../services/testkit.ts'
import { log } from './action/log.ts'
import type { RuleNodeDefinition } from './define-node.ts'
import { scriptFilter } from './filter/script-filter.ts'
import { scriptSwitch } from './filter/script-switch.ts'
import { createNode, runNode, testContext, testMessage, type MessageDraft } from './testkit.ts'
import { scriptTransformation } from './transform/script-transformation.ts'

const workers = createJavaScriptWorkers({
  ...{ clock: systemClock, threads: 1, memoryLimitMb: 32, timeoutMs: 2000, queueBound: 1000 },
})
after(() => workers.close())
const scripts = createScriptHost({
  clock: systemClock,
  random: testRandom,
  javaScript: (source) => workers.compile(source),
})

const MESSAGE: MessageDraft = {
  type: 'POST_TELEMETRY_REQUEST',
  data: '{"temperature":22.5,"name":"Kühler \\"1\\"","list":[1,2,3],"nothing":null,"deep":{"a":{"b":1}}}',
  metadata: { deviceName: 'A', ts: '1700000000000', n: '5' },
}

async function run(definition: RuleNodeDefinition, jsScript: string, draft = MESSAGE) {
  const context = testContext()
  const node = await createNode(
    definition,
    { scriptLang: 'JS', jsScript, tbelScript: '' },
    { ...context, services: { ...context.services, scripts } },
  )
  const [result] = await runNode(node, testMessage(draft))
  await node.close?.()
  return {
    emissions: result?.emissions ?? [],
    error: result?.error ?? result?.emissions[0]?.error,
    lines: context.lines,
  }
}

const FAILS = Symbol('Failure')

function table<Outcome>(
  name: string,
  definition: RuleNodeDefinition,
  outcomeOf: (ran: Awaited<ReturnType<typeof run>>) => Outcome,
  rows: readonly (readonly [script: string, outcome: Outcome | readonly [typeof FAILS, RegExp]])[],
): void {
  describe(name, () => {
    for (const [script, expected] of rows)
      test(script.replaceAll(/\s+/g, ' ').slice(0, 100), async () => {
        const ran = await run(definition, script)
        if (Array.isArray(expected) && expected[0] === FAILS) {
          assert.deepEqual(
            ran.emissions.map(({ relations }) => relations),
            [['Failure']],
          )
          assert.match(String(ran.error), expected[1] as RegExp)
        } else assert.deepEqual(outcomeOf(ran), expected)
      })
  })
}

const relationsOf = ({ emissions }: Awaited<ReturnType<typeof run>>) => emissions.flatMap(({ relations }) => relations)

table('filter', scriptFilter, relationsOf, [
  ['return msg.temperature > 20;', ['True']],
  ['return metadata.n == 5;', ['True']],
  ['return metadata.n === 5;', ['False']],
  ["return msgType === 'POST_TELEMETRY_REQUEST';", ['True']],
  ["return typeof msg.absent !== 'undefined' && msg.absent > 1;", ['False']],
  ['return msg.nothing === null;', ['True']],
  ["return msg.hasOwnProperty('temperature');", ['True']],
  ["return Object.keys(msg).indexOf('list') >= 0;", ['True']],
  ['return !!msg.temperature;', ['True']],
  ["return /^K\\u00fchler/.test(msg.name) && !/'/.test(msg.name);", ['True']],
  ['return new Date(Number(metadata.ts)).getUTCFullYear() === 2023;', ['True']],
  ['var hours = new Date().getHours(); return hours >= 0 && hours < 24;', ['True']],
  ['msg.temperature = 0; metadata.deviceName = 1; return true;', ['True']],
  ['for (var i in msg.list) { if (msg.list[i] === 3) return true; } return false;', ['True']],
  ['return msg.temperature;', [FAILS, /Wrong result type: number, expected boolean/]],
  ["return 'true';", [FAILS, /Wrong result type: string/]],
  ['return null;', [FAILS, /Wrong result type: null/]],
  ['msg.temperature > 20;', [FAILS, /Wrong result type: undefined/]],
  ['return msg.absent.deep > 1;', [FAILS, /line 1, column \d+: TypeError: Cannot read properties of undefined/]],
  ["throw 'my own words';", [FAILS, /my own words/]],
  ["throw new Error('my own words');", [FAILS, /my own words/]],
  ["console.log('x'); return true;", [FAILS, /console is not defined/]],
  ["return require('fs') !== null;", [FAILS, /require is not defined/]],
  ["return process.env.HOME !== '';", [FAILS, /process is not defined/]],
  ["return fetch('http://127.0.0.1') !== null;", [FAILS, /fetch is not defined/]],
  ['while (true) {}', [FAILS, /stopped after 2000 ms/]],
  ["var s = 'x'; while (true) s += s;", [FAILS, /Invalid string length|memory/]],
])

table('switch', scriptSwitch, relationsOf, [
  ["return 'hot';", ['hot']],
  ["return ['hot', 'dry', 'hot'];", ['hot', 'dry']],
  ['return [];', []],
  ["return msg.temperature > 20 ? ['hot'] : 'cold';", ['hot']],
  ["switch (msgType) { case 'POST_TELEMETRY_REQUEST': return ['t']; default: return ['o']; }", ['t']],
  ['return 5;', [FAILS, /Wrong result type: number/]],
  ['return [1];', [FAILS, /array with number/]],
  ["return ['a', null];", [FAILS, /array with null/]],
  ["return [['a']];", [FAILS, /array with array/]],
  ["return {relation: 'a'};", [FAILS, /Wrong result type: object/]],
  ['return true;', [FAILS, /Wrong result type: boolean/]],
  ['if (false) return "a";', [FAILS, /Wrong result type: undefined/]],
])

const messagesOf = ({ emissions }: Awaited<ReturnType<typeof run>>) =>
  emissions.map(({ message: { data, metadata, type } }) => ({ data, metadata: { ...metadata }, type }))
const KEPT = { data: MESSAGE.data ?? '', metadata: { ...MESSAGE.metadata }, type: 'POST_TELEMETRY_REQUEST' }

table('transform', scriptTransformation, messagesOf, [
  ['return {msg: msg, metadata: metadata, msgType: msgType};', [KEPT]],
  ['return {};', [KEPT]],
  ['return msg;', [KEPT]],
  ['return {msg: {t: Math.round(msg.temperature * 10) / 10}};', [{ ...KEPT, data: '{"t":22.5}' }]],
  ['return {msg: null};', [{ ...KEPT, data: 'null' }]],
  ["return {msg: 'text'};", [{ ...KEPT, data: '"text"' }]],
  ['return {msg: [1, undefined, NaN]};', [{ ...KEPT, data: '[1,null,null]' }]],
  [
    'return {msg: {a: undefined, f: function () {}, d: new Date(0)}};',
    [{ ...KEPT, data: '{"d":"1970-01-01T00:00:00.000Z"}' }],
  ],
  ["return {msgType: 'OTHER'};", [{ ...KEPT, type: 'OTHER' }]],
  ["return {msgType: ''};", [KEPT]],
  ['return {msgType: null};', [{ ...KEPT, type: 'null' }]],
  [
    'return {metadata: {a: 1, b: true, c: null, d: undefined, e: "x"}};',
    [{ ...KEPT, metadata: { a: '1', b: 'true', e: 'x' } }],
  ],
  [
    'metadata.sum = msg.list.reduce(function (a, b) { return a + b; }, 0); return {metadata: metadata};',
    [{ ...KEPT, metadata: { ...KEPT.metadata, sum: '6' } }],
  ],
  [
    'var out = []; for (var i = 0; i < 2; i++) out.push({msg: {i: i}}); return out;',
    [
      { ...KEPT, data: '{"i":0}' },
      { ...KEPT, data: '{"i":1}' },
    ],
  ],
  [
    'return msg.list.map(v => ({msg: {v}, metadata: {...metadata, v}}));',
    [1, 2, 3].map((v) => ({ ...KEPT, data: `{"v":${v}}`, metadata: { ...KEPT.metadata, v: String(v) } })),
  ],
  [
    'const {temperature, ...rest} = msg; return {msg: {temperature: `${temperature.toFixed(1)} °C`}};',
    [{ ...KEPT, data: '{"temperature":"22.5 °C"}' }],
  ],
  ['return {msg: JSON.parse(JSON.stringify(msg.deep))};', [{ ...KEPT, data: '{"a":{"b":1}}' }]],
  [
    "return {msg: {s: 'äöü'.length, e: encodeURIComponent('ä b'), p: parseInt('0x1f'), h: (255).toString(16).padStart(4, '0')}};",
    [{ ...KEPT, data: '{"s":3,"e":"%C3%A4%20b","p":31,"h":"00ff"}' }],
  ],
  ['function add(a, b) { return a + b; } return {msg: {sum: add(1, 2)}};', [{ ...KEPT, data: '{"sum":3}' }]],
  ['sum = 1; return {msg: {sum: sum}};', [{ ...KEPT, data: '{"sum":1}' }]],
  ['return {msg: 1 / 3};', [{ ...KEPT, data: '0.3333333333333333' }]],
  ['return [];', [FAILS, /Wrong result type: empty array/]],
  ['return null;', [FAILS, /Wrong result type: null/]],
  ['msg.x = 1;', [FAILS, /Wrong result type: undefined/]],
  ["return 'x';", [FAILS, /Wrong result type: string/]],
  ['return {metadata: {a: {b: 1}}};', [FAILS, /metadata that is no object of scalars/]],
  ['return {metadata: "x"};', [FAILS, /metadata that is no object of scalars/]],
  ['return {msgType: {}};', [FAILS, /msgType of type object/]],
  ['msg.self = msg; return {msg: msg};', [FAILS, /circular/]],
  ['return {msg: 10n};', [FAILS, /BigInt/]],
  ["return {msg: 'x'.repeat(400000)};", [FAILS, /result of \d+ characters, at most/]],
])

table('log', log, ({ lines }) => lines.map(({ text }) => text), [
  ["return 'T: ' + msg.temperature + ' of ' + metadata.deviceName;", ['T: 22.5 of A']],
  ['return JSON.stringify(msg.list);', ['[1,2,3]']],
  ['return `${msgType}`;', ['POST_TELEMETRY_REQUEST']],
  ["return '';", ['']],
  ['return msg.temperature;', [FAILS, /Wrong result type: number, expected string/]],
  ['return msg;', [FAILS, /Wrong result type: object/]],
  ['return;', [FAILS, /Wrong result type: undefined/]],
])

describe('what is refused before it runs', () => {
  for (const [script, reason] of [
    ['return await 5;', /line 1, column 8: 'await' is not allowed/],
    ['async function f() {} return true;', /'async' is not allowed/],
    ['setTimeout(function () {}, 10); return true;', /'setTimeout' is not allowed/],
    ['return new Promise(function () {});', /'Promise' is not allowed/],
    ['return msg.temperature >;', /line 1, column \d+/],
    ['   ', /blank/],
    ['return true; }', /line 2, column 1: Unexpected token/],
    [`return '${'x'.repeat(50_001)}' !== '';`, /characters long, at most/],
  ] as const)
    test(script.slice(0, 60), () => assert.rejects(run(scriptFilter, script), reason))

  for (const script of [
    "// don't await\nreturn true;",
    'return \'async\' !== "setTimeout";',
    '/* Promise */ return true;',
  ])
    test(`and not ${script}`, async () => assert.deepEqual(relationsOf(await run(scriptFilter, script)), ['True']))
})
