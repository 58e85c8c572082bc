/**
 * Attempts to get out of the expression language, or to use more than a script may. Each is contained, told to the author,
 * and leaves the engine as it was. Source: the classes of `reliability.md` section 5 that apply to a language without objects.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createScriptHost } from '../../engine/script/host.ts'
import { scriptMessage } from '../../engine/script/javascript/testkit.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Clock } from '../../model/clock.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import { processorMs } from '../support/processor-time.ts'
import { seededRandom } from '../support/seeded-random.ts'

const clock: Clock = {
  now: () => 0,
  monotonic: processorMs,
  after() {
    throw new Error('scripts set no timers')
  },
  soon() {
    throw new Error('scripts set no timers')
  },
}

const limits = { steps: 200_000, timeoutMs: 500, memoryBytes: 8 * 1024 * 1024, maxErrors: 1000 }
const host = createScriptHost({
  tbel: limits,
  javaScript: () => {
    throw new Error('only the expression language here')
  },
  clock,
  random: { next: () => 0.5, uuid: () => '' },
})
const message = scriptMessage('{"a":7,"list":[1,2,3],"text":"abc","constructor":"own","o":{"x":1}}', { name: 'n' })
const UNTOUCHED = JSON.stringify(message.json())

function compile(body: string): CompiledScript<'log'> {
  const script = host.compile({ language: 'TBEL', kind: 'log', body, tenantId: 'tenant', ownerId: 'node' })
  assert.ok(!(script instanceof Promise))
  return script
}

function run(body: string): string {
  const { run: inline } = compile(body)
  assert.ok(inline !== undefined)
  return inline(message)
}

/** The error's code; every one carries a place or a limit, and never a stack of ours. */
function refusal(body: string): string {
  try {
    const output = run(body)
    return `output ${output.slice(0, 200)}`
  } catch (error) {
    assert.ok(isMillraceError(error), `${body.slice(0, 200)}: ${String(error)}`)
    assert.ok(error.message.length < 3000)
    assert.doesNotMatch(error.message, /engine\/script|\.ts:|node:internal/)
    return error.code
  }
}

function assertUnharmed(): void {
  assert.equal(JSON.stringify(message.json()), UNTOUCHED)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.deepEqual(Object.keys(Object.prototype), [])
  assert.equal(run('return msg.a + 1;'), '8')
}

const NAMES_OF_OTHER_WORLDS = [
  'return process;',
  'return globalThis;',
  'return global.process;',
  "return require('fs');",
  "return import('fs');",
  "return Function('return process')();",
  "return eval('1');",
  'return this;',
  'return constructor;',
  'return __proto__;',
  'return arguments;',
  'return Object.keys(msg);',
  'return Reflect;',
  'return Symbol;',
  'return Buffer;',
  'return WebAssembly;',
  'return SharedArrayBuffer;',
  'return Atomics;',
  'return console.log(1);',
  'return System.exit(0);',
  "return Runtime.getRuntime().exec('id');",
  "return java.lang.Runtime.getRuntime().exec('id');",
  "return Class.forName('java.lang.Runtime');",
  'return Thread.sleep(1000);',
  "return new java.io.File('/');",
  'return new java.lang.ProcessBuilder();',
  "return new java.net.URL('http://127.0.0.1');",
  "import java.io.File; return new File('/');",
  'return Math.constructor;',
  "return Math.constructor('return process')();",
  'return Math.toString();',
  'return JSON.constructor;',
  'return Math.__proto__;',
  'return parseInt.constructor;',
  'return (function() { return 1; })();',
  'return async;',
]

const MEMBERS_THAT_ARE_NOT_THERE = [
  'return msg.getClass();',
  'return msg.list.constructor;',
  'return msg.list.__proto__;',
  "return msg.list['constructor'];",
  "return msg.text['constructor'];",
  "return msg.text.constructor('return process')();",
  'return msg.a.constructor;',
  'return msg.o.constructor();',
  'return msg.o.hasOwnProperty("x");',
  'return msg.o.toLocaleString();',
  'return msg.o.valueOf();',
  'return msg.o.__defineGetter__("x", 1);',
  'return msg.list.map(1);',
  'return msg.list.forEach(1);',
  'return msg.list.filter(1);',
  'return msg.text.normalize();',
  'return msg.text.at(0);',
  'return msg.text.big();',
  'return (5).toFixed(1);',
  'return msg.text.class;',
  'return msg.list.length.constructor;',
  'return msg.entrySet()[0].constructor;',
  'return newSet().constructor;',
  'return new Date(0).constructor;',
]

test('names of the host, of the platform and of Java do not exist', () => {
  for (const body of NAMES_OF_OTHER_WORLDS) assert.match(refusal(body), /^script\.SCRIPT_(SYNTAX|RUNTIME)$/, body)
  assertUnharmed()
})

test('values have only the members of the library', () => {
  for (const body of MEMBERS_THAT_ARE_NOT_THERE) assert.match(refusal(body), /^script\.SCRIPT_(SYNTAX|RUNTIME)$/, body)
  assertUnharmed()
})

test('inherited names of maps read as absent, own ones as data', () => {
  assert.equal(run('return msg.o.constructor == null;'), 'true')
  assert.equal(run('return msg.o.__proto__ == null;'), 'true')
  assert.equal(run("return msg.o['toString'] == null;"), 'true')
  assert.equal(run('return metadata.hasOwnProperty == null;'), 'true')
  assert.equal(run('return msg.constructor;'), 'own')
  assert.equal(run("return {}.get('constructor') == null;"), 'true')
})

test('writing inherited names makes data and pollutes nothing', () => {
  const bodies = [
    "msg.__proto__ = {polluted: 'yes'}; return msg.polluted == null;",
    "msg['__proto__'] = {polluted: 'yes'}; return {}.polluted == null;",
    "var m = {}; m.constructor = {prototype: {polluted: 'yes'}}; return m.prototype == null;",
    'var m = JSON.parse(\'{"__proto__": {"polluted": "yes"}}\'); return m.polluted == null;',
    "metadata.__proto__ = 'x'; return {}.x == null;",
    "var m = {'__proto__': {polluted: 1}}; return m.polluted == null;",
  ]
  for (const body of bodies) assert.equal(run(body), 'true', body)
  assert.equal(run("msg.__proto__ = {polluted: 'yes'}; return JSON.stringify(msg).contains('polluted');"), 'true')
  const results = compileTransform(
    "msg.o = {'__proto__': {polluted: 1}}; metadata['__proto__'] = 'y'; return {msg: msg, metadata: metadata};",
  )
  assert.equal(results[0]?.metadata?.['polluted'], undefined)
  assert.ok(Object.hasOwn(results[0]?.metadata ?? {}, '__proto__'))
  assertUnharmed()
})

function compileTransform(body: string) {
  const script = host.compile({ language: 'TBEL', kind: 'transform', body, tenantId: 'tenant', ownerId: 'node' })
  assert.ok(!(script instanceof Promise) && script.run !== undefined)
  return script.run(message)
}

test('what one run leaves behind, the next one does not see', () => {
  const script = compile(
    'if (isdef kept) { return "seen"; } kept = 1; msg.kept = 1; metadata.kept = "1"; return JSON.stringify(msg);',
  )
  const first = script.run?.(message)
  assert.equal(script.run?.(message), first)
  assert.equal(run('return msg.kept == null && metadata.kept == null;'), 'true')
  assertUnharmed()
})

const ENDLESS: readonly (readonly [string, string])[] = [
  ['while', 'while (true) { } return 1;'],
  ['for', 'for (;;) { var x = 1; } return 1;'],
  ['do', 'do { } while (true); return 1;'],
  ['until', 'until (false) { } return 1;'],
  ['counting loop', 'var i = 0; while (i >= 0) { i = i + 1; i = i - 1; } return i;'],
  [
    'nested loops',
    'var n = 0; for (var i = 0; i < 100000; i++) { for (var j = 0; j < 100000; j++) { n++; } } return n;',
  ],
  ['calls that call twice', 'function f(n) { if (n < 1) { return 1; } return f(n - 1) + f(n - 1); } return f(100);'],
  ['a list that grows while it is walked', 'var l = [1]; foreach (x : l) { l.add(x); } return l;'],
  [
    'expensive calls in a loop',
    "var s = 'ab'.repeat(1000); var n = 0; while (true) { n += s.indexOf('zz'); } return n;",
  ],
  [
    'sorting in a loop',
    'var l = []; for (var i = 0; i < 10000; i++) { l.add(i); } while (true) { l.sort(false); } return 1;',
  ],
  [
    'comparing long texts many times a turn',
    `var a = 'x'.repeat(900000); var b = 'x'.repeat(900000); var n = 0; while (true) { ${'if (a == b) { n++; } '.repeat(1500)} } return n;`,
  ],
  [
    'ordering long texts many times a turn',
    `var a = 'x'.repeat(900000); var b = 'x'.repeat(900000); var n = 0; while (true) { ${'if (a < b) { n++; } '.repeat(1500)} } return n;`,
  ],
  [
    'a list as text many times a turn',
    `var l = [1]; for (var i = 0; i < 15; i++) { l = [l, l]; } var n = 0; while (true) { ${"if ('x'.contains(l)) { n++; } ".repeat(1000)} } return n;`,
  ],
  [
    'comparing lists many times a turn',
    `var l = [1]; var k = [1]; for (var i = 0; i < 15; i++) { l = [l, l]; k = [k, k]; } var n = 0; while (true) { ${'if (l == k) { n++; } '.repeat(1000)} } return n;`,
  ],
  [
    'long texts as numbers many times a turn',
    `var a = '1'.repeat(900000); var n = 0; while (true) { ${'n = a - 1; '.repeat(1500)} } return n;`,
  ],
]

for (const [name, body] of ENDLESS) {
  test(`endless: ${name} ends with an error in time`, () => {
    const began = processorMs()
    assert.match(refusal(body), /^script\.SCRIPT_(WORK_LIMIT|TIMEOUT|RUNTIME|MEMORY_LIMIT)$/)
    assert.ok(processorMs() - began < limits.timeoutMs + 50 + 200, `${processorMs() - began} ms`)
    assertUnharmed()
  })
}

const RECURSIONS: readonly (readonly [string, string])[] = [
  ['a function that calls itself', 'function f(n) { return f(n + 1); } return f(0);'],
  ['two functions in turn', 'function f(n) { return g(n); } function g(n) { return f(n); } return f(0);'],
  ['a list in itself, as text', 'var l = []; l.add(l); return l.toString();'],
  ['a list in itself, as result', 'var l = []; l.add(l); return l;'],
  ['a map in itself, as JSON', 'var m = {}; m.m = m; return JSON.stringify(m);'],
  ['structures in themselves, compared', 'var a = []; a.add(a); var b = []; b.add(b); return a == b;'],
  ['a map in itself, flattened', 'var m = {}; m.m = m; return toFlatMap(m);'],
  ['a set of a list in itself', 'var l = []; l.add(l); return toSet(l);'],
  ['brackets', `return ${'('.repeat(20_000)}1${')'.repeat(20_000)};`],
  ['lists', `return ${'['.repeat(20_000)}${']'.repeat(20_000)};`],
  ['minus signs', `return ${'- '.repeat(20_000)}1;`],
  ['blocks', `${'if (true) {'.repeat(4000)} ${'}'.repeat(4000)}`],
  ['a chain of members', `return msg${'.a'.repeat(20_000)};`],
  ['a long sum', `return ${'1+'.repeat(20_000)}1.a;`],
  ['a long sum of members', `return ${'msg.a+'.repeat(8000)}msg.zz.a;`],
  ['conditions in a row', `return ${'true ? 1 : '.repeat(4000)}2.a;`],
]

for (const [name, body] of RECURSIONS) {
  test(`recursion: ${name} is refused`, () => {
    assert.match(refusal(body), /^script\.SCRIPT_(SYNTAX|RUNTIME|WORK_LIMIT|MEMORY_LIMIT)$/)
    assertUnharmed()
  })
}

const BOMBS: readonly (readonly [string, string])[] = [
  ['a text of 1 GiB', "return 'x'.repeat(1073741824);"],
  ['a text that doubles', "var s = 'x'; while (true) { s = s + s; } return s;"],
  ['a text that doubles by joining', "var s = 'x'; while (true) { s = s # s; } return s;"],
  ['a text that doubles by +=', "var s = 'x'; while (true) { s += s; } return s;"],
  ['a text that replaces itself', "var s = 'aa'; while (true) { s = s.replace('a', s); } return s;"],
  ['a pattern that replaces', "var s = 'aa'; while (true) { s = s.replaceAll('a', 'aaaa'); } return s;"],
  ['concat', "var s = 'x'; while (true) { s = s.concat(s); } return s;"],
  ['padding', "return padStart('x', 2000000000, 'y');"],
  ['a list that grows', 'var l = []; while (true) { l.add(msg.text); } return l;'],
  ['a list that doubles', 'var l = [1]; while (true) { l.addAll(l); } return l;'],
  ['a list that doubles by +', 'var l = [1]; while (true) { l = l + l; } return l;'],
  ['a map that grows', 'var m = {}; var i = 0; while (true) { m[i] = i; i++; } return m;'],
  ['a set that grows', 'var m = newSet(); var i = 0; while (true) { m.add(i); i++; } return m;'],
  ['lists of lists', 'var l = []; while (true) { l = [l, l, l, l]; } return l;'],
  [
    'a structure whose text is huge',
    'var l = [msg.text]; for (var i = 0; i < 60; i++) { l = [l, l]; } return l.toString();',
  ],
  [
    'a structure whose JSON is huge',
    'var l = [msg.text]; for (var i = 0; i < 60; i++) { l = [l, l]; } return JSON.stringify(l);',
  ],
  ['a result whose JSON is huge', 'var l = [msg.text]; for (var i = 0; i < 60; i++) { l = [l, l]; } return l;'],
  [
    'joining a huge list',
    "var l = []; for (var i = 0; i < 60000; i++) { l.add('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'); } var s = ''; while (true) { s = l.join(','); } return s;",
  ],
  ['a power of a long', 'var n = 9L; while (true) { n = n * n * n; } return n;'],
]

for (const [name, body] of BOMBS) {
  test(`memory: ${name} is refused before it is made`, () => {
    const before = process.memoryUsage().heapUsed
    const began = processorMs()
    assert.match(refusal(body), /^script\.SCRIPT_(MEMORY_LIMIT|WORK_LIMIT|RUNTIME|TIMEOUT|RESULT_TOO_LARGE)$/)
    assert.ok(processorMs() - began < limits.timeoutMs + 50 + 200, `${processorMs() - began} ms`)
    assert.ok(process.memoryUsage().heapUsed - before < 120 * 1024 * 1024)
    assertUnharmed()
  })
}

const PATTERNS = [
  '(a+)+$',
  '(a|aa)+$',
  '(a|a?)+$',
  '(.*a){20}$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(x+x+)+y',
  '((a*)*)*b',
  '(a?){50}a{50}',
]

test('patterns that backtrack elsewhere take linear time here', () => {
  for (const pattern of PATTERNS) {
    for (const use of [
      `msg.text ~= '${pattern}'`,
      `'${'a'.repeat(2000)}!' ~= '${pattern}'`,
      `'${'ax'.repeat(1000)}'.replaceAll('${pattern}', '') == ''`,
    ]) {
      const began = processorMs()
      const outcome = refusal(`return '' + (${use});`)
      assert.match(
        outcome,
        /^(output (true|false)|script\.SCRIPT_WORK_LIMIT|script\.SCRIPT_TIMEOUT)$/,
        use.slice(0, 80),
      )
      assert.ok(processorMs() - began < limits.timeoutMs + 50 + 200, `${pattern}: ${processorMs() - began} ms`)
    }
  }
  assertUnharmed()
})

test('patterns that no linear matcher can follow are refused by name', () => {
  for (const pattern of [
    '(a)\\\\1',
    '(?=a)b',
    '(?<!a)b',
    'a++',
    '(?>a)b',
    '\\\\p{Alpha}',
    'a{1000}{1000}',
    '('.repeat(500),
  ]) {
    assert.equal(refusal(`return msg.text ~= '${pattern}';`), 'script.SCRIPT_RUNTIME', pattern.slice(0, 50))
  }
  assertUnharmed()
})

test('an error with a huge message is cut', () => {
  assert.equal(refusal("raiseError('x'.repeat(100000)); return 1;"), 'script.SCRIPT_RUNTIME')
  assert.equal(refusal("return parseInt('z'.repeat(100000));"), 'script.SCRIPT_RUNTIME')
})

test('a script that keeps breaking its limits is blocked, then may try again', () => {
  let time = 0
  const resting = createScriptHost({
    tbel: { steps: 1000, maxErrors: 3, blockMs: 60_000 },
    javaScript: () => {
      throw new Error('only the expression language here')
    },
    clock: { ...clock, monotonic: () => time },
    random: { next: () => 0.5, uuid: () => '' },
  })
  const script = resting.compile({
    language: 'TBEL',
    kind: 'log',
    body: 'while (msg.a == 7) { } return "ok";',
    tenantId: 't',
    ownerId: 'n',
  })
  assert.ok(!(script instanceof Promise) && script.run !== undefined)
  const { run: inline } = script
  for (let attempt = 0; attempt < 3; attempt++)
    assert.throws(() => inline(message), { code: 'script.SCRIPT_WORK_LIMIT' })
  assert.throws(() => inline(scriptMessage('{"a":1}')), { code: 'script.SCRIPT_BLOCKED' })
  time += 60_000
  assert.equal(inline(scriptMessage('{"a":1}')), 'ok')
})

/** Tokens from which programs are thrown together: most are refused, none may do anything else. */
const TOKENS = [
  ...[
    'msg',
    'metadata',
    'a',
    'list',
    'o',
    'x',
    'constructor',
    '__proto__',
    'f',
    'Math',
    'JSON',
    'Date',
    'toString',
    'length',
  ],
  ...[
    'if',
    'else',
    'while',
    'for',
    'foreach',
    'return',
    'var',
    'function',
    'new',
    'switch',
    'case',
    'break',
    'isdef',
    'contains',
    'is',
    'do',
    'until',
  ],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    '.?',
    ',',
    ';',
    ':',
    '?',
    '=',
    '==',
    '+',
    '-',
    '*',
    '/',
    '%',
    '**',
    '<',
    '>',
    '&&',
    '||',
    '!',
    '~',
    '~=',
    '#',
    '++',
    '+=',
  ],
  ...[
    '1',
    '0',
    '2.5',
    '9L',
    "'s'",
    '"t"',
    'null',
    'true',
    'false',
    "'(a+)+'",
    '1e308',
    '0xFF',
    'add',
    'put',
    'sort',
    'repeat',
    'split',
    'replaceAll',
    'stringify',
  ],
]

test('programs of random tokens end with a value or an error of the script', (context) => {
  const random = seededRandom()
  context.diagnostic(`SEED=${random.seed}`)
  let ran = 0
  for (let count = 0; count < 20_000; count++) {
    const body = Array.from({ length: random.between(1, 14) }, () => random.pick(TOKENS)).join(' ')
    if (!refusal(body).startsWith('script.SCRIPT_SYNTAX')) ran++
  }
  assert.ok(ran > 100, `only ${ran} programs compiled, SEED=${random.seed}`)
  assertUnharmed()
})
