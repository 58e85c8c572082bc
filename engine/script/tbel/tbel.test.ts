/** What scripts mean, by the topics of `rule-engine.md` 6.1, 6.4 and 6.5. Values are compared as the JSON text they become. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createScriptHost } from '../host.ts'
import { handClock, scriptMessage } from '../javascript/testkit.ts'
import type { Message } from '../../../model/message.ts'
import { processorMs } from '../../../test/support/processor-time.ts'
import type { ScriptKind, ScriptResults } from '../script.ts'

const host = createScriptHost({
  javaScript: () => {
    throw new Error('only the expression language here')
  },
  clock: handClock(),
  random: { next: () => 0.25, uuid: () => '' },
})
const DATA = '{"a":7,"b":2,"d":2.5,"w":2.0,"s":"7","gone":null,"t":true,"list":[3,1,2],"o":{"x":1},"big":5000000000}'
const message = scriptMessage(DATA, { n: '5', v: '7.5' })

function run<Kind extends ScriptKind>(kind: Kind, body: string, input: Message = message): ScriptResults[Kind] {
  const script = host.compile({ language: 'TBEL', kind, body, tenantId: 'tenant', ownerId: 'node' })
  assert.ok(!(script instanceof Promise) && script.run !== undefined)
  return script.run(input)
}

/** `[script, what it gives as text or JSON text]` */
type Row = readonly [script: string, expected: string]

function table(name: string, rows: readonly Row[]): void {
  test(name, () => {
    for (const [body, expected] of rows) assert.equal(run('log', body), expected, body)
  })
}

function refused(name: string, code: string, bodies: readonly string[]): void {
  test(name, () => {
    for (const body of bodies) assert.throws(() => run('log', body), { code: `script.${code}` }, body)
  })
}

table('division gives a double, of two ints known at compile time an int', [
  ['return 4 / 2;', '2.0'],
  ['return msg.a / msg.b;', '3.5'],
  ['var x = 7; return x / 2;', '3'],
  ['var x = msg.a; return x / 2;', '3.5'],
  ["return parseInt('7') / 2;", '3'],
  ["return toInt('7.0') / 2;", '3'],
  ['return Math.round(7.2) / 2;', '3'],
  ['return 225L / 10;', '22'],
  ['return msg.big / 10;', '500000000'],
  ['var a = 7; a /= 2; return a;', '3.5'],
  ['function half(n) { return n / 2; } return half(7);', '3.5'],
])

table('integers widen on overflow and long saturates', [
  ['return 2147483647 + 1;', '2147483648'],
  ['return 9223372036854775807L + 1;', '9223372036854775807'],
  ['return -7 % 3;', '-1'],
  ['return 2 ** 3;', '8'],
  ['return 1 << 33;', '2'],
  ['return -8 >>> 1;', '2147483644'],
  ['return 0 * -1;', '0'],
])

table('doubles keep their dot', [
  ['return msg.w;', '2.0'],
  ['return msg.a + msg.w;', '9.0'],
  ['return msg.d + msg.d;', '5.0'],
  ['return msg.w + "";', '2.0'],
  ['return 1e7 + "";', '1.0E7'],
  ['return [1.0, 1, 0.5];', '[1.0,1,0.5]'],
])

table('operands of other kinds are coerced', [
  ["return '1' == 1;", 'true'],
  ['return null + 1;', 'null1'],
  ['return null * 2;', 'null'],
  ["return 'a' * 2;", 'null'],
  ['return metadata.n + 2;', '52'],
  ["return '5' - 2;", '3'],
  ["return '7.5' * 2;", '15'],
  ["return '7' / '2';", '3.5'],
  ["return '10' > '9';", 'false'],
  ["return '10' > 9;", 'true'],
  ['return null < 1;', 'false'],
  ['return null != 1;', 'true'],
  ['return [1, 2] == [1, 2];', 'true'],
  ['return {a: 1} == {a: 1.0};', 'false'],
])

table('absent members read null, and a null-safe path stops there', [
  ['return msg.none == null;', 'true'],
  ['return msg.gone == null && !msg.containsKey("gone");', 'true'],
  ['return msg.?none.deeper.still;', 'null'],
  ['return msg.?o.x;', '1'],
  ["return msg['none'];", 'null'],
])

refused('conditions take booleans only, null has no members', 'SCRIPT_RUNTIME', [
  'if (msg.a) { return 1; }',
  'return msg.none && true;',
  'return !msg.a;',
  'return msg.none.deeper;',
  'return msg.?o.none.deeper;',
  'return msg.list[7];',
  'return msg.list[-1];',
  'msg.none.x = 1; return 1;',
  'return msg.a % msg.list.indexOf(3);',
  'return 1 < msg.o.toString();',
  'return undefinedName;',
  "raiseError('no'); return 1;",
])

refused('what the language does not have is refused before it runs', 'SCRIPT_SYNTAX', [
  'let a = 1; return a;',
  'const a = 1; return a;',
  'return typeof msg;',
  'return msg.a !== 1;',
  'try { return 1; } catch (e) { return 2; }',
  'throw 1;',
  'for (var i = 0; i < 3; i++) { continue; } return 1;',
  'import java.io.File; return 1;',
  'return `a`;',
  'return (1;',
  "return 'abc;",
  'var a = 1 var b = 2; return a;',
  'return unknownFunction(1);',
  'return 1 % 0;',
])

table('statements', [
  ['msg.a + 1', '8'],
  ['if (msg.a > 5) "big"; else "small";', 'big'],
  ['var s = 0; for (var i = 0; i < 4; i++) { if (i == 3) { break; } s += i; } return s;', '3'],
  ['var s = 0; foreach (x : msg.list) { s += x; } return s;', '6'],
  ["var s = ''; for (e : msg.o) { s += e.key + e.value; } return s;", 'x1'],
  ['var i = 0; do { i++; } until (i == 5); return i;', '5'],
  ["switch (msg.a) { case 1: return 'one'; case 7: return 'seven'; default: return 'other'; }", 'seven'],
  ["switch (msg.a) { case 7: var r = 1; break; default: r = 2; } return 'after';", 'after'],
  ['function f(n) { if (n < 2) { return n; } return f(n - 1) + f(n - 2); } return f(10);', '55'],
  ['var x = 5; function f() { x = 6; return 1; } f(); return x;', '6'],
  ['x = 5; function f() { x = 6; return 1; } f(); return x;', '5'],
  ['return isdef msg && !(isdef other);', 'true'],
  ['var m = {}; m.a = 1; m["b"] = [1]; m.a += 2; m.c = null; return m;', '{"a":3,"b":[1]}'],
])

table('lists and maps', [
  ['var l = [3, 1, 2]; l.sort(); return l;', '[1,2,3]'],
  ["var l = ['b', 'a']; l.push('c'); l.reverse(); return l;", '["c","a","b"]'],
  ['return msg.list.with(0, 9);', '[9,3,1,2]'],
  ["return [[1, 2], [3]].join('-');", '1,2-3'],
  ['var l = [1, 2, 3]; return [l.pop(), l.shift(), l.size()];', '[3,1,1]'],
  ['var m = {b: 1, a: 2}; m.sortByKey(); return m;', '{"a":2,"b":1}'],
  ['var l = [1]; l.add(l.size()); return l.splice(0, 1);', '[1]'],
  ["return toFlatMap({a: {b: [1, 2]}, c: 'x'});", '{"a.b.0":1,"a.b.1":2,"c":"x"}'],
  ['return toSet([1, 2, 1]).size();', '2'],
  ['return msg.o.getOrDefault("zz", 5);', '5'],
])

table('texts and patterns', [
  ["return 'a,b,,c,,'.split(',');", '["a","b","","c"]'],
  ["return 'a1b22'.replaceAll('([0-9]+)', '<$1>');", 'a<1>b<22>'],
  ["return 'abc' ~= '[a-c]+' && !('abc' ~= 'b');", 'true'],
  ["return 'foobar' soundslike 'fubar';", 'true'],
  ["return 'abc' contains 'b';", 'true'],
  ["return padStart('7', 3, '0');", '007'],
  ["return '  x '.trim() + 'abc'[1];", 'xb'],
  ["return encodeURI('a b') + decodeURI('%20c');", 'a%20b c'],
])

table('parsing and bytes', [
  ["return [parseInt('ab'), parseInt('0x1F'), parseInt('10', 2), parseInt(' ')];", '[171,31,2,null]'],
  ["return [parseDouble('2'), parseFloat('1.5'), parseLong('5000000000')];", '[2.0,1.5,5000000000]'],
  ['return [toFixed(1.005, 2), toFixed(2, 1), toInt(2.5)];', '[1.01,2.0,3]'],
  ['return [toFixed(1250.0, -2), toFixed(49.9, -2), toFixed(1.5, 200), toFixed(-0.04, 1)];', '[1300.0,0.0,1.5,0.0]'],
  [
    'return [toInt(1e12), toInt(-1e12), toInt(2147483647.5), toInt(1e300), toInt(-2.5)];',
    '[-727379968,727379968,-2147483648,0,-3]',
  ],
  ["return [hexToBytes('FF01'), bytesToHex([-1, 1])];", '[[-1,1],"FF01"]'],
  ["return [btoa('hi'), atob('aGk='), base64ToHex('aGk=')];", '["aGk=","hi","6869"]'],
  [
    "return [parseHexToFloat('41EA62CC'), parseFloat('0x3DCCCCCD'), parseBytesToFloat([66, 246, 233, 121])];",
    '[29.29824,0.1,123.456]',
  ],
  ["return [parseHexToFloat('80000000'), parseHexToFloat('00000001')];", '[-0.0,1.4E-45]'],
  ["return [parseHexToInt('0102'), parseLittleEndianHexToInt('0102'), parseHexToFloat('41200000')];", '[258,513,10.0]'],
  ['return [parseBytesToInt([1, 2]), parseBytesToInt([1, 2, 3], 1, 2, false)];', '[258,770]'],
  ['return [intToHex(255), intToHex(-1), longToHex(5)];', '["FF","FFFF","05"]'],
  ['return decodeToJson(\'{"a":2.0}\');', '{"a":2.0}'],
])

table('dates in UTC, months from 1', [
  ["var d = new Date('2024-01-31T10:00:00Z'); d.addMonths(1); return d.toISOString();", '2024-02-29T10:00:00Z'],
  ['return new Date(0).getUTCMonth();', '1'],
  ['return [new Date(0).getUTCDay(), Date.UTC(1970, 1, 2, 0)];', '[4,86400000]'],
])

test('a filter gives its boolean, anything else is refused', () => {
  assert.equal(
    run('filter', 'return msg.temperature == null || (msg.temperature >= -40 && msg.temperature <= 80);'),
    true,
  )
  assert.equal(run('filter', 'return msg.a > 7;'), false)
  for (const body of ['return "true";', 'return 1;', 'return null;']) {
    assert.throws(() => run('filter', body), { code: 'script.SCRIPT_RESULT_TYPE' })
  }
})

test('a switch gives a relation or a set of relations', () => {
  assert.deepEqual(run('switch', 'return "One";'), ['One'])
  assert.deepEqual(run('switch', 'return ["One", "Two", "One"];'), ['One', 'Two'])
  assert.throws(() => run('switch', 'return [1];'), { code: 'script.SCRIPT_RESULT_TYPE' })
})

test('a transformation keeps number types, makes metadata text, and keeps what is missing', () => {
  const [changed] = run(
    'transform',
    'msg.f = msg.a * 1.0; metadata.x = {y: 1}; metadata.n = null; return {msg: msg, metadata: metadata, msgType: ""};',
  )
  assert.equal(changed?.data, DATA.replace('"gone":null,', '').replace(/}$/, ',"f":7.0}'))
  assert.deepEqual({ ...changed?.metadata }, { v: '7.5', x: '{y=1}' })
  assert.equal(changed?.type, undefined)
  assert.deepEqual(run('transform', 'return {msgType: "OTHER"};'), [{ type: 'OTHER' }])
  assert.equal(run('transform', 'return [{msg: {a: 1}}, {msg: {a: 2}}];').length, 2)
  assert.throws(() => run('transform', 'return 5;'), { code: 'script.SCRIPT_RESULT_TYPE' })
})

test('a script that writes works on its own copy of the message', () => {
  const before = JSON.stringify(message.json())
  run('transform', 'msg.o.x = 99; msg.list.add(4); metadata.n = "changed"; return {msg: msg};')
  assert.equal(JSON.stringify(message.json()), before)
  assert.equal(message.metadata['n'], '5')
})

test('an error tells line and column', () => {
  assert.throws(() => run('log', 'var a = 1;\nvar b = msg.none.x;\nreturn b;'), {
    message: /^line 2, column 18: null pointer/,
  })
  assert.throws(() => run('log', 'var a = 1;\n  return (a;'), { message: /^line 2, column 12: expected '\)'/ })
})

test('blank and too long bodies, too large arguments and results are refused', () => {
  assert.throws(() => run('log', '  \n'), { code: 'script.SCRIPT_BODY' })
  assert.throws(() => run('log', `return 1;${' '.repeat(50_000)}`), { code: 'script.SCRIPT_BODY' })
  const large = scriptMessage(`{"t":"${'x'.repeat(100_000)}"}`)
  assert.throws(() => run('log', 'return 1;', large), { code: 'script.SCRIPT_ARGUMENTS_TOO_LARGE' })
  assert.throws(() => run('log', "return 'x'.repeat(300001);"), { code: 'script.SCRIPT_RESULT_TOO_LARGE' })
  assert.throws(() => run('log', 'return 1;', scriptMessage('not json')), { code: 'script.SCRIPT_DATA' })
})

test('functions and constants of the platform’s classes give what they give there', () => {
  for (const [expression, result] of [
    ["String.join('-', ['a', 'b'])", 'a-b'],
    ["String.join(', ', 'a', 'b', 'c')", 'a, b, c'],
    ['Integer.toOctalString(8)', '10'],
    ['Long.toHexString(255L)', 'ff'],
    ['Long.toHexString(-1L)', 'ffffffffffffffff'],
    ['Long.toBinaryString(5L)', '101'],
    ['"" + Long.compare(1L, 2L)', '-1'],
    ['"" + Double.MAX_VALUE', '1.7976931348623157E308'],
    ['"" + Double.isInfinite(1.0 / 0)', 'true'],
    ["'' + Boolean.valueOf('TRUE')", 'true'],
    ['"" + Boolean.TRUE', 'true'],
    ['"" + Math.toDegrees(3.14)', '179.9087476710785'],
    ["'[' + ' a '.stripLeading() + '][' + ' a '.stripTrailing() + ']'", '[a ][ a]'],
    ["'[' + '\\u00a0a\\u001c\\u2003'.strip() + ']' + '\\u00a0'.isBlank() + '\\u001f'.isBlank()", '[\u00a0a]falsetrue'],
    ["String.join('-', toSet(['a', 'b']))", 'a-b'],
    ['"" + Double.MIN_VALUE', '4.9E-324'],
    ["'' + Boolean.valueOf('TRUE\\n') + Boolean.valueOf('tRuE')", 'falsetrue'],
    ['"" + Double.compare(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY)', '0'],
    ['"" + Double.compare(Double.NaN, 1.0) + Double.compare(1.0, Double.NaN)', '1-1'],
    ['"" + Double.compare(0.0, -0.0) + Double.compare(Double.NaN, Double.NaN)', '10'],
    ['"" + Long.compare("9", 6) + Long.compare(5, "5")', '10'],
    ['"" + Long.compare(1.7, 1) + Integer.valueOf(3.7) + Long.valueOf(-3.7)', '03-3'],
    ["Integer.toHexString(-3.7) + ' ' + Long.toHexString(-3.7)", 'fffffffd fffffffffffffffd'],
    ["Integer.toString(255, 16) + ' ' + Integer.toString(-5, 2) + ' ' + Long.toString(255L, 40)", 'ff -101 255'],
    [
      "'' + (Integer.MAX_VALUE + 1) + ' ' + (Integer.MIN_VALUE - 1) + ' ' + Integer.MAX_VALUE / 2",
      '2147483647 -2147483648 1073741823',
    ],
    ["'' + (Integer.MAX_VALUE + 1L) + ' ' + (Integer.MAX_VALUE > 5000000000)", '2147483648 false'],
    ["'[' + String.join('-') + ']'", '[]'],
    [
      "'' + Float.parseFloat('1.1') + ' ' + Float.MAX_VALUE + ' ' + Float.floatToIntBits(1.5)",
      '1.1 3.4028235E38 1069547520',
    ],
    [
      "'' + Float.intBitsToFloat(1069547520) + Float.isFinite(1.0) + ' ' + Float.toHexString(0.1)",
      '1.5true 0x1.99999ap-4',
    ],
    ["'' + Short.MAX_VALUE + ' ' + Short.parseShort('-12') + ' ' + Short.toUnsignedInt(-1)", '32767 -12 65535'],
    ["'' + Byte.MIN_VALUE + ' ' + Byte.parseByte('7f', 16) + ' ' + Byte.toUnsignedInt(-1)", '-128 127 255'],
    ["'' + (byte) 200 + ' ' + ((byte) 200 & 255) + ' ' + (char) 65", '-56 200 A'],
    ["'' + Character.isDigit('5') + Character.isLetter(65) + Character.isLetterOrDigit('_')", 'truetruefalse'],
    ["Character.toUpperCase('a') + Character.toLowerCase('Ä') + Character.toUpperCase(97)", 'Aä65'],
    ["'' + Character.getNumericValue('7') + Character.digit('f', 16) + Character.forDigit(11, 16)", '715b'],
    ["'' + Character.digit('5', 100) + Character.digit('0', 1)", '-1-1'],
    ["'' + Character.isWhitespace('\u00a0') + Character.isSpaceChar('\u00a0')", 'falsetrue'],
    ["'' + Integer.bitCount(7) + Integer.reverseBytes(1) + Integer.rotateLeft(1, 33)", '3167772162'],
    ["'' + Integer.toUnsignedString(-1) + ' ' + Integer.parseUnsignedInt('4294967295')", '4294967295 -1'],
    ["'' + Integer.divideUnsigned(-1, 2) + ' ' + Integer.compareUnsigned(-1, 1)", '2147483647 1'],
    ["'' + Integer.decode('#ff') + ' ' + Long.decode('-010') + ' ' + Integer.numberOfLeadingZeros(0)", '255 -8 32'],
    ["'' + Long.highestOneBit(9L) + Long.numberOfTrailingZeros(8L) + Long.signum(-5L)", '83-1'],
    ["'' + Double.toHexString(-2.0) + ' ' + Double.doubleToLongBits(1.5)", '-0x1.0p1 4609434218613702656'],
    ["'' + Boolean.logicalXor(true, true) + Boolean.compare(true, false)", 'false1'],
    ["'' + Boolean.valueOf(0.5) + Boolean.valueOf(0) + Boolean.parseBoolean(1)", 'truefalsefalse'],
  ] as const)
    assert.equal(run('log', `return ${expression};`), result, expression)
  assert.throws(() => run('log', "return String.join('-', [1, 2]);"), /only texts can be joined/)
  assert.throws(() => run('log', 'return Integer.toHexString(3e10);'), /beyond the range of int/)
  assert.throws(() => run('log', "return Byte.parseByte('200');"), /beyond the range/)
  assert.throws(() => run('log', "return Character.isDigit('12');"), /must be a character/)
  assert.throws(() => run('log', 'return Integer.divideUnsigned(1, 0);'), /division by zero/)
  const many =
    "var t = 'x'.repeat(100000); var l = []; for (var i = 0; i < 1000; i++) { l.push(t); } return String.join('', l);"
  assert.throws(() => run('log', many), /memory/)
})

test('a long text of digits that is no number is looked through once, beside a number and among what is sorted', () => {
  const begin = processorMs()
  for (const expression of ["('1'.repeat(100000) + 'x') == 1", "['1'.repeat(100000) + 'x', '2'].toSorted().size()"])
    run('log', `return '' + (${expression});`)
  assert.ok(processorMs() - begin < 2000, 'with two ways to match a digit each takes seconds')
})

test('chance and time come from the engine', () => {
  assert.equal(run('log', 'return Math.random();'), '0.25')
  assert.equal(run('log', 'return Date.now();'), '0')
})

test('a batch reports each message once, errors in their place', async () => {
  const script = await host.compile({
    language: 'TBEL',
    kind: 'log',
    body: 'return msg.a.b;',
    tenantId: 't',
    ownerId: 'n',
  })
  const outcomes: string[] = []
  await script.runBatch([scriptMessage('{"a":{"b":"x"}}'), scriptMessage('{}'), scriptMessage('{"a":{"b":"y"}}')], {
    value: (index, value) => outcomes.push(`${index} ${value}`),
    error: (index) => outcomes.push(`${index} error`),
  })
  assert.deepEqual(outcomes, ['0 x', '1 error', '2 y'])
})
