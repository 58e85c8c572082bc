/**
 * Generated programs of the supported subset. Expressions are made by the kind of value they give, so that most programs
 * end with a value; a share of operands is of any kind, for the coercions. What is known to differ on purpose
 * (`deliberate-differences.ts`) is not generated.
 */
import type { SeededRandom } from '../../support/seeded-random.ts'

type Kind = 'int' | 'double' | 'string' | 'boolean' | 'list'
const KINDS: readonly Kind[] = ['int', 'double', 'string', 'boolean', 'list']

export const MESSAGE_TEXT =
  '{"a":7,"b":2,"c":-13,"d":2.5,"w":2.0,"s":"7","word":"abc","half":"7.5","t":true,"f":false,"list":[3,1,2],"names":["x","y"],"o":{"x":1,"y":"z"},"big":5000000000,"zero":0}'

/** Message members that no generated statement changes, by kind. */
const MEMBERS: Readonly<Record<Kind, readonly string[]>> = {
  int: ['msg.a', 'msg.b', 'msg.c', 'msg.o.x', 'msg.zero', "msg['a']", 'msg.list[1]'],
  double: ['msg.d', 'msg.w'],
  string: ['msg.s', 'msg.word', 'msg.half', 'metadata.n', 'msg.o.y', 'msgType'],
  boolean: ['msg.t', 'msg.f'],
  list: ['msg.list', 'msg.names'],
}
const ANYTHING = [
  'null',
  'msg.none',
  'msg.big',
  'msg.o',
  'msg.t',
  "'abc'",
  "'7'",
  "'7.5'",
  "''",
  '5L',
  '2147483647',
  '1.5',
  'msg.w',
  '0',
]

export class ProgramMaker {
  private readonly random: SeededRandom
  private variables: { name: string; kind: Kind }[] = []
  private names = 0
  private functions: string[] = []
  private inFunction = false

  constructor(random: SeededRandom) {
    this.random = random
  }

  program(): string {
    this.variables = []
    this.names = 0
    this.functions = []
    const parts: string[] = []
    if (this.chance(0.25)) parts.push(this.functionDefinition())
    for (let count = this.random.between(0, 4); count > 0; count--) parts.push(this.statement(2))
    parts.push(`return ${this.chance(0.3) ? this.summary() : this.expression(this.kind(), 3)};`)
    return parts.join(' ')
  }

  private chance(share: number): boolean {
    return this.random.next() < share
  }

  private kind(): Kind {
    return this.random.pick(KINDS)
  }

  private fresh(): string {
    return `v${this.names++}`
  }

  /** All variables in one value. */
  private summary(): string {
    return this.variables.length === 0 ? '[msg.a]' : `[${this.variables.map(({ name }) => name).join(', ')}]`
  }

  private functionDefinition(): string {
    const outer = this.variables
    const name = `f${this.functions.length}`
    this.inFunction = true
    this.variables = [{ name: 'p', kind: 'int' }]
    const body = this.chance(0.5) ? `${this.statement(1)} ` : ''
    const text = `function ${name}(p) { ${body}return ${this.expression('int', 2)}; }`
    this.inFunction = false
    this.variables = outer
    this.functions.push(name)
    return text
  }

  private statement(depth: number): string {
    const choice = this.random.between(0, depth > 0 ? 9 : 4)
    switch (choice) {
      case 0:
      case 1:
      case 2:
        return this.declaration()
      case 3:
        return this.assignment()
      case 4:
        return this.chance(0.5) ? this.mutation() : this.declaration()
      case 5:
      case 6:
        return this.conditional(depth)
      case 7:
        return this.counted(depth)
      case 8:
        return this.walk(depth)
      default:
        return this.chance(0.5) ? this.whileLoop(depth) : this.selection()
    }
  }

  private declaration(): string {
    const kind = this.kind()
    const value = this.expression(kind, 2)
    const name = this.fresh()
    this.variables.push({ name, kind })
    return `var ${name} = ${value};`
  }

  /** A variable keeps its kind: the reference fails where a variable known as int gets another type. */
  private assignment(): string {
    const [variable] = this.variables.length === 0 ? [] : [this.random.pick(this.variables)]
    if (variable === undefined || variable.name === 'p') return this.declaration()
    const { name, kind } = variable
    if (kind === 'int' && this.chance(0.4))
      return this.random.pick([`${name}++;`, `${name} += ${this.expression('int', 1)};`, `${name} -= 1;`, `--${name};`])
    if (kind === 'string' && this.chance(0.4)) return `${name} += ${this.expression(this.kind(), 1)};`
    return `${name} = ${this.expression(kind, 2)};`
  }

  private mutation(): string {
    const value = this.expression(this.random.pick(['int', 'string', 'double', 'boolean'] as const), 1)
    return this.random.pick([
      `msg.fresh = ${value};`,
      // Inside a function the reference does not find the message when an index of it is written.
      this.inFunction ? `msg.fresh = ${value};` : `msg['q' + 1] = ${value};`,
      `msg.o.more = ${value};`,
      `metadata.more = ${value};`,
      `msg.names.add(${value});`,
      `msg.put('put', ${value});`,
      `msg.remove('half2');`,
    ])
  }

  /** Variables born inside are gone behind it. */
  private block(depth: number): string {
    const before = this.variables
    this.variables = [...before]
    const statements = Array.from({ length: this.random.between(1, 2) }, () => this.statement(depth - 1))
    this.variables = before
    return `{ ${statements.join(' ')} }`
  }

  private conditional(depth: number): string {
    const test = this.expression('boolean', 2)
    const yes = this.block(depth)
    return this.chance(0.5) ? `if (${test}) ${yes} else ${this.block(depth)}` : `if (${test}) ${yes}`
  }

  private counted(depth: number): string {
    const name = this.fresh()
    const inner = this.within({ name, kind: 'int' }, depth)
    return `for (var ${name} = ${this.random.between(0, 2)}; ${name} < ${this.random.between(1, 5)}; ${name}++) ${inner}`
  }

  private whileLoop(depth: number): string {
    const name = this.fresh()
    const limit = this.random.between(1, 4)
    const body = this.block(depth).slice(1, -1)
    const loop = this.random.pick([
      `while (${name} < ${limit}) { ${name}++; ${body} }`,
      `do { ${name}++; ${body} } while (${name} < ${limit});`,
      `until (${name} == ${limit}) { ${name}++; ${body} }`,
    ])
    return `var ${name} = 0; ${loop}`
  }

  /** A loop over a list that nothing in its body changes. */
  private walk(depth: number): string {
    const name = this.fresh()
    const list = this.random.pick(['msg.list', '[1, 5, 9]', 'msg.o.keys()', "['p', 'q']"])
    const kind: Kind = list.includes('k') || list.includes("'") ? 'string' : 'int'
    return `foreach (${name} : ${list}) ${this.within({ name, kind }, depth)}`
  }

  /** A loop's body; the loop's own variable is only read there. */
  private within(variable: { name: string; kind: Kind }, depth: number): string {
    const before = this.variables
    const accumulator = before.find(({ kind, name }) => kind === variable.kind && name !== 'p' && kind !== 'boolean')
    const head = accumulator === undefined ? '' : `${accumulator.name} = ${accumulator.name} + ${variable.name};`
    return `{ ${head} ${this.block(depth).slice(1, -1)} }`
  }

  private selection(): string {
    // The reference's own parser of switches is lost at brackets and quoted colons: names and numbers only.
    const cases = [1, 7, 2].map((value) => `case ${value}: return ${this.random.pick(MEMBERS.string.slice(0, 3))};`)
    return this.inFunction
      ? this.declaration()
      : `switch (${this.random.pick(['msg.a', 'msg.b', 'msg.zero'])}) { ${cases.join(' ')} }`
  }

  private expression(kind: Kind, depth: number): string {
    if (depth <= 0 || this.chance(0.2)) return this.leaf(kind)
    switch (kind) {
      case 'int':
        return this.intExpression(depth - 1)
      case 'double':
        return this.doubleExpression(depth - 1)
      case 'string':
        return this.stringExpression(depth - 1)
      case 'boolean':
        return this.booleanExpression(depth - 1)
      case 'list':
        return this.listExpression(depth - 1)
    }
  }

  private leaf(kind: Kind): string {
    const names = this.variables.filter((variable) => variable.kind === kind).map(({ name }) => name)
    if (names.length > 0 && this.chance(0.5)) return this.random.pick(names)
    if (this.chance(0.5)) return this.random.pick(MEMBERS[kind])
    switch (kind) {
      case 'int':
        return String(this.random.between(0, 20))
      case 'double':
        return this.random.pick(['0.5', '2.0', '1e3', '10.25', '100.0', '0.1'])
      case 'string':
        return this.random.pick(["'abc'", '"x"', "'5'", "''", "'2.5'", "'A b'"])
      case 'boolean':
        return this.random.pick(MEMBERS.boolean)
      case 'list':
        return this.random.pick(['[1, 2]', '[]', "['a', 2.0]", '[[1], 2]'])
    }
  }

  private intExpression(depth: number): string {
    const one = (): string => this.expression('int', depth)
    return this.random.pick([
      () => `(${one()} ${this.random.pick(['+', '-', '*'])} ${one()})`,
      () => `${this.random.pick(MEMBERS.int)} ${this.random.pick(['+', '-', '*'])} ${this.random.pick(MEMBERS.int)}`,
      () => `(${one()} % ${this.random.between(1, 9)})`,
      () =>
        `(${this.random.pick(MEMBERS.int)} ${this.random.pick(['&', '|', '^', '<<', '>>', '>>>'])} ${this.random.between(0, 33)})`,
      () => `${this.random.pick(['msg.word', "'Hello'", 'metadata.n'])}.length()`,
      () => 'msg.list.size()',
      () => `Math.${this.random.pick(['max', 'min'])}(${this.random.pick(MEMBERS.int)}, ${this.random.between(-9, 9)})`,
      () => `Math.abs(${this.random.pick(MEMBERS.int)})`,
      () => `(${this.expression('boolean', depth)} ? ${one()} : ${one()})`,
      () => `(-${this.leaf('int').replace(/^(\d)/, '$1')})`,
      () => `msg.word.indexOf(${this.leaf('string')})`,
      () => (this.functions.length > 0 && !this.inFunction ? `${this.random.pick(this.functions)}(${one()})` : one()),
    ])()
  }

  private anything(): string {
    return this.random.pick(ANYTHING)
  }

  private doubleExpression(depth: number): string {
    const number = (): string => this.expression(this.random.pick(['int', 'double'] as const), depth)
    return this.random.pick([
      () => `(${this.expression('double', depth)} ${this.random.pick(['+', '-', '*', '/'])} ${number()})`,
      () => `(${number()} ${this.random.pick(['+', '-', '*', '/'])} ${this.expression('double', depth)})`,
      () => `(${this.expression('int', depth)} / ${this.random.pick(['2', 'msg.b', 'msg.a', '4', 'msg.d'])})`,
      () => `Math.${this.random.pick(['floor', 'ceil', 'sqrt'])}(${number()})`,
      () => `Math.pow(${this.random.pick(['2', 'msg.b', '1.5'])}, ${this.random.between(0, 6)})`,
      () => `(double) ${this.leaf('int')}`,
      () => `(${this.expression('double', depth)} % 3)`,
    ])()
  }

  private stringExpression(depth: number): string {
    const one = (): string => this.expression('string', depth)
    const receiver = (): string => this.random.pick(["'Hello, World'", 'msg.word', 'metadata.n', "'a-b-c'"])
    return this.random.pick([
      () => `(${one()} + ${this.expression(this.kind(), depth)})`,
      () => `(${this.expression(this.random.pick(['int', 'double', 'boolean'] as const), depth)} + ${one()})`,
      () => `(${this.leaf('int')} # ${this.leaf('string')})`,
      () => `('' + Math.round(${this.random.pick(MEMBERS.double)}))`,
      () => `('' + (${this.anything()} ${this.random.pick(['+', '-', '*', '/', '%'])} ${this.anything()}))`,
      () => `${receiver()}.${this.random.pick(['toUpperCase', 'toLowerCase', 'trim'])}()`,
      () => `${receiver()}.substring(${this.random.between(0, 2)})`,
      () => `${receiver()}.replace(${this.leaf('string')}, ${this.leaf('string')})`,
      () => `(${this.expression('boolean', depth)} ? ${one()} : ${one()})`,
      () => `msg.${this.random.pick(['list', 'names', 'o'])}.toString()`,
    ])()
  }

  private booleanExpression(depth: number): string {
    const number = (): string => this.expression(this.random.pick(['int', 'double'] as const), depth)
    return this.random.pick([
      () => `(${number()} ${this.random.pick(['<', '<=', '>', '>=', '==', '!='])} ${number()})`,
      () =>
        `(${this.expression('string', depth)} ${this.random.pick(['==', '!=', '<', '>'])} ${this.expression('string', depth)})`,
      () => `(${this.leaf('string')} == ${this.leaf('int')})`,
      () =>
        `(${this.expression('boolean', depth)} ${this.random.pick(['&&', '||'])} ${this.expression('boolean', depth)})`,
      () => `!(${this.expression('boolean', depth)})`,
      () => `(msg.${this.random.pick(['none', 'a', 's'])} ${this.random.pick(['==', '!='])} null)`,
      () => `(${this.anything()} ${this.random.pick(['==', '!='])} ${this.anything()})`,
      () =>
        `(${this.random.pick(['msg.list', 'msg.names', 'msg.o', 'msg.word'])} contains ${this.leaf(this.random.pick(['int', 'string'] as const))})`,
      () => `msg.containsKey(${this.leaf('string')})`,
      () => `(${this.leaf('string')} ~= '[a-c]+|[0-9.]*')`,
      () =>
        `(msg.${this.random.pick(['a', 'd', 's', 't'])} instanceof ${this.random.pick(['Integer', 'Double', 'String', 'Boolean'])})`,
    ])()
  }

  private listExpression(depth: number): string {
    const item = (): string => this.expression(this.kind(), depth)
    return this.random.pick([
      () => `[${item()}, ${item()}]`,
      () => 'msg.list.toSorted()',
      () => `msg.list.slice(${this.random.between(0, 2)})`,
      () => `msg.list.concat(${this.leaf('list')})`,
    ])()
  }
}
