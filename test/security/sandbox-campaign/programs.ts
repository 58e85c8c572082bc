/** Short scripts made by chance that try to get out: chains of members from every start, calls with code as text, traps, pollution. */
import type { SeededRandom } from '../../support/seeded-random.ts'

/** What a script answers that got hold of something of the host. */
export const ESCAPED = 'ESCAPED'

/** Programs in one JavaScript text: making a realm costs more than running one. */
export const JS_VARIANTS = 25

const HOST_NAMES = [
  'process',
  'require',
  'module',
  'Buffer',
  'global',
  'fetch',
  'queueMicrotask',
  'structuredClone',
  'importScripts',
  'performance',
]
const JS_STARTS = [
  'msg',
  'metadata',
  'msgType',
  'this',
  'globalThis',
  'arguments',
  'arguments.callee',
  'Object',
  'Function.prototype',
  'Array',
  'Error',
  'Symbol',
  'Reflect',
  'Proxy',
  'Intl',
  'JSON',
  'Math',
  'Date',
  'RegExp',
  'Map',
  'Iterator',
  '(function () { return this })()',
  '(() => {})',
  '(function* () {})',
  '/a/',
  '(0n)',
  '[]',
  '({})',
  'new Map()',
  'new Proxy({}, {})',
  "'a'.matchAll(/a/g)",
  'new Uint8Array(4)',
  'new Intl.DateTimeFormat()',
]
const JS_MEMBERS = [
  'constructor',
  '__proto__',
  'prototype',
  'call',
  'apply',
  'bind',
  'caller',
  'callee',
  'arguments',
  'valueOf',
  'toString',
  'stack',
  'prepareStackTrace',
  'captureStackTrace',
  'stackTraceLimit',
  'next',
  'return',
  'raw',
  'global',
  'process',
  'list',
  '0',
  'length',
  'name',
  'getOwnPropertyDescriptor',
  '__lookupGetter__',
  '__defineGetter__',
  'ownKeys',
  'construct',
  'species',
]
const JS_ARGUMENTS = [
  '',
  "'return this'",
  "'return process'",
  'null',
  'undefined',
  '{}',
  'globalThis',
  "'__proto__'",
  '() => this',
  "'constructor', { get() { return this } }",
  '[[]]',
  'value',
  'msg',
]
const JS_POLLUTIONS = [
  'Object.prototype.escaped = 1',
  'Array.prototype.push = () => 1',
  'globalThis.escaped = 1',
  'escaped = 1',
  'JSON.stringify = () => "1"',
  'Object.setPrototypeOf(globalThis, { escaped: 1 })',
  'Object.defineProperty(Object.prototype, "escaped", { value: 1 })',
  'String.prototype.split = null',
  'msg.__proto__.escaped = 1',
  'Error.prepareStackTrace = (e, frames) => frames',
  'msg.toJSON = () => globalThis',
  'Symbol.prototype.escaped = 1',
]

export class JavaScriptMaker {
  private readonly random: SeededRandom

  constructor(random: SeededRandom) {
    this.random = random
  }

  /** One function for each message, by its `a`: every run is another program. */
  program(): string {
    const variants = Array.from({ length: JS_VARIANTS }, () => this.variant())
    return `if (typeof escaped !== 'undefined' || ({}).escaped !== undefined || [].escaped !== undefined) return '${ESCAPED} by what another left';
var found = [];
[${variants.join(',\n')}][msg.a].call(this);
var hosts = ${JSON.stringify(HOST_NAMES)};
for (var i = 0, count = found.length; i < count; i++) for (var j = 0; j < hosts.length; j++) {
  var kind = 'undefined'; try { kind = typeof found[i][hosts[j]] } catch (e) {}
  if (kind === 'object' || kind === 'function') return '${ESCAPED} to ' + hosts[j];
}
return 'contained ' + found.length;`
  }

  private variant(): string {
    const steps = Array.from({ length: this.random.between(1, 4) }, () => this.step())
    return `function () { var value = ${this.random.pick(JS_STARTS)};\n${steps.join('\n')} }`
  }

  private step(): string {
    const chain = this.chain()
    return this.random.pick([
      () => `try { value = ${chain}; found.push(value) } catch (e) { found.push(e) }`,
      () =>
        `try { value = value${this.link()}${this.link()}; found.push(value) } catch (e) { found.push(e); value = e }`,
      () =>
        `try { value = (${chain})(${this.random.pick(JS_ARGUMENTS)}); found.push(value) } catch (e) { found.push(e, e && e.constructor) }`,
      () =>
        `try { value = new (${chain})(${this.random.pick(JS_ARGUMENTS)}); found.push(value) } catch (e) { found.push(e) }`,
      () => `try { ${this.random.pick(JS_POLLUTIONS)} } catch (e) { found.push(e) }`,
      () =>
        `try { value = new Proxy(value, { get: function (t, k, r) { found.push(t, r); return t[k] }, apply: function () { found.push(arguments) } }); found.push(value${this.link()}) } catch (e) { found.push(e) }`,
      () =>
        `try { (function again(n) { return n === 0 ? null.x : again(n - 1) })(${this.random.pick(['3', '100', '1e6'])}) } catch (e) { found.push(e, e.stack) }`,
      () => `try { value = Reflect.ownKeys(${chain}); found.push(value) } catch (e) { found.push(e) }`,
    ])()
  }

  private chain(): string {
    return this.random.pick(JS_STARTS) + Array.from({ length: this.random.between(0, 4) }, () => this.link()).join('')
  }

  private link(): string {
    const member = this.random.pick(JS_MEMBERS)
    const access = this.random.next() < 0.5 && /^[a-z_]+$/i.test(member) ? `.${member}` : `['${member}']`
    return this.random.next() < 0.25 ? `${access}(${this.random.pick(JS_ARGUMENTS)})` : access
  }
}

const TBEL_STARTS = [
  'msg',
  'msg.o',
  'msg.list',
  'msg.text',
  'msg.a',
  'metadata',
  'msgType',
  'Math',
  'JSON',
  'Date',
  'Integer',
  'String',
  'process',
  'globalThis',
  'this',
  'constructor',
  'System',
  'Runtime',
  'java.lang.Runtime',
  'new Date()',
  'newSet()',
  'toSet(msg.list)',
  "hexToBytesArray('ff')",
  '[1, 2]',
  '{a: 1}',
  "'abc'",
  '5',
  '2.5',
  'null',
  'msg.entrySet()',
  'f',
  'empty',
  'Class',
  'Thread',
  'new java.util.ArrayList()',
  'new java.io.File("/")',
]
const TBEL_MEMBERS = [
  'constructor',
  '__proto__',
  'prototype',
  'class',
  'getClass',
  'call',
  'apply',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'length',
  'size',
  'keys',
  'values',
  'entrySet',
  'get',
  'put',
  'add',
  'forName',
  'exec',
  'exit',
  'concat',
  'join',
  'sort',
  'repeat',
  'split',
  'replaceAll',
  'matches',
  'members',
  'time',
  'then',
  'map',
  'forEach',
  'symbol',
  'toLocaleString',
  'slice',
  'splice',
  'fill',
  'parse',
  'stringify',
  'max',
  'random',
  '__defineGetter__',
]
const TBEL_ARGUMENTS = [
  '',
  '1',
  '-1',
  '2147483647',
  'null',
  "'constructor'",
  "'__proto__'",
  "'(a+)+$'",
  'msg',
  'msg.list',
  '[]',
  "'x', 1",
  '0, 1000000',
  "'a', msg",
  '1e308',
  "'return process'",
]
const TBEL_FUNCTIONS = [
  'parseInt',
  'parseBytesToLong',
  'toFlatMap',
  'decodeToJson',
  'base64ToBytes',
  'padStart',
  'toFixed',
  'isInsidePolygon',
  'raiseError',
  'bytesToString',
  'parseLongToBinaryArray',
  'encodeURI',
  'require',
  'eval',
  'setTimeout',
  'Function',
]

export class TbelMaker {
  private readonly random: SeededRandom

  constructor(random: SeededRandom) {
    this.random = random
  }

  program(): string {
    const steps = Array.from({ length: this.random.between(0, 3) }, () => this.step())
    return `${this.random.next() < 0.2 ? 'function f(a) { return a; } ' : ''}var value = ${this.start()};\n${steps.join('\n')}\nreturn ${this.chain()};`
  }

  private step(): string {
    return this.random.pick([
      () => `value = ${this.chain()};`,
      () =>
        `msg[${this.random.pick(["'constructor'", "'__proto__'", "'toString'", 'value', "'k'"])}] = ${this.chain()};`,
      () => `msg.o.__proto__ = ${this.chain()};`,
      () => `for (var i = 0; i < ${this.length()}; i++) { value = [value, value]; }`,
      () => `for (var i = 0; i < ${this.length()}; i++) { value = value + value; }`,
      () => `foreach (e : ${this.chain()}) { value = e; }`,
      () =>
        `if (${this.chain()} == value) { value = ${this.random.pick(TBEL_FUNCTIONS)}(${this.random.pick(TBEL_ARGUMENTS)}); }`,
      () => `msg.list.add(msg.list);`,
    ])()
  }

  /** Seldom so many that only a limit ends it. */
  private length(): number {
    return this.random.next() < 0.02 ? 60 : this.random.between(1, 8)
  }

  private start(): string {
    return this.random.next() < 0.3
      ? `${this.random.pick(TBEL_FUNCTIONS)}(${this.random.pick(TBEL_ARGUMENTS)})`
      : this.random.pick(TBEL_STARTS)
  }

  private chain(): string {
    const from = this.random.next() < 0.4 ? 'value' : this.start()
    return from + Array.from({ length: this.random.between(0, 3) }, () => this.link()).join('')
  }

  private link(): string {
    const member = this.random.pick(TBEL_MEMBERS)
    if (this.random.next() < 0.2) return `['${member}']`
    return this.random.next() < 0.6 ? `.${member}(${this.random.pick(TBEL_ARGUMENTS)})` : `.${member}`
  }
}

/** Scripts that only a limit ends, in either language. */
export const ENDLESS: Readonly<Record<'JS' | 'TBEL', readonly string[]>> = {
  JS: [
    'while (true) {}',
    'for (;;) { Math.sin(1) }',
    "return /(a+)+$/.test('a'.repeat(40) + 'b')",
    'var a = [1]; for (;;) { a.sort() }',
    "var s = 'x'; for (;;) { s = s.slice(0, 5) + 'y' }",
  ],
  TBEL: [
    'while (true) { }',
    'var i = 0; until (i < 0) { i = 1; }',
    "for (;;) { var a = 'x'.repeat(2000); }",
    'function f(a) { return f(a); } return f(1);',
    "var s = 'a'; while (true) { s.matches('(a|b)*c'); }",
    'var l = [1, 2, 3]; while (true) { l.sort(); }',
  ],
}
