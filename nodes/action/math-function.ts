/**
 * Calculates a value of the message, its originator's attributes and latest values, and puts it into the message or stores it
 * (`rule-nodes.md` 49). Messages of one originator are calculated one after the other, in all math nodes together: what one stores the next
 * reads.
 */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { valueText } from '../../model/entry-json.ts'
import { LongDecimal, WholeDouble } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { ATTRIBUTE_SCOPES } from '../../model/value.ts'
import type { Entry, TypedValue } from '../../model/value.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import { mergedMembers } from '../../model/members.ts'
import { bodyObject, withBody, withMetadata } from '../body.ts'
import { halfUp } from '../half-up.ts'
import { defineNode, orZero, requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { numberOfText } from '../../model/number-text.ts'
import { parseExpression } from '../math/expression.ts'
import type { Expression } from '../math/expression.ts'
import { OPERATIONS, OPERATION_NAMES } from '../math/operations.ts'
import { pattern } from '../pattern.ts'
import type { Pattern } from '../pattern.ts'

const NAME = 'math function'
const MAX_ARGUMENTS = 16
const LONGEST_EXPRESSION = 256
const LONGEST_TURN_MS = 10_000
const WHOLE_RESULTS: readonly string[] = ['CEIL', 'FLOOR', 'GET_EXP']

const argument = z.looseObject({
  name: z.string().nullish(),
  type: z.enum(['MESSAGE_BODY', 'MESSAGE_METADATA', 'ATTRIBUTE', 'TIME_SERIES', 'CONSTANT']),
  key: z.string(),
  attributeScope: z.enum(ATTRIBUTE_SCOPES).nullish(),
  defaultValue: z.number().nullish(),
})

const configurationSchema = z.looseObject({
  operation: z
    .enum([...OPERATION_NAMES, 'CUSTOM'])
    .meta({ title: 'Operation', description: 'CUSTOM: the expression below.' }),
  arguments: z.array(argument).meta({
    title: 'Arguments',
    description: `Each with name, type, key, attributeScope, defaultValue; a constant's key is its number. At most ${MAX_ARGUMENTS}.`,
  }),
  customFunction: z
    .string()
    .nullish()
    .meta({
      title: 'Expression',
      description: `For CUSTOM: + - * / % ^, functions, the arguments by their names; at most ${LONGEST_EXPRESSION} characters.`,
    }),
  result: z
    .looseObject({
      type: z.enum(['MESSAGE_BODY', 'MESSAGE_METADATA', 'ATTRIBUTE', 'TIME_SERIES']),
      key: z.string().min(1),
      resultValuePrecision: orZero(z.int().min(0).max(100), 0),
      addToBody: orZero(z.boolean(), false),
      addToMetadata: orZero(z.boolean(), false),
      attributeScope: z.enum(ATTRIBUTE_SCOPES).nullish(),
    })
    .meta({
      title: 'Result',
      description: 'Where it goes, its key and digits; what is stored may be added to the body or the metadata too.',
    }),
})

type Configuration = z.output<typeof configurationSchema>
type Argument = Configuration['arguments'][number]
type Context = NodeContext<'attributes' | 'history' | 'telemetry'>

const DEFAULTS = {
  operation: 'CUSTOM',
  arguments: [{ name: 'x', type: 'MESSAGE_BODY', key: 'temperature', attributeScope: null, defaultValue: null }],
  customFunction: '(x - 32) / 1.8',
  result: {
    type: 'MESSAGE_BODY',
    key: 'temperatureCelsius',
    resultValuePrecision: 2,
    addToBody: false,
    addToMetadata: false,
    attributeScope: null,
  },
}

export const mathFunction = defineNode({
  type: 'org.thingsboard.rule.engine.math.TbMathNode',
  name: NAME,
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Calculates of values in the message, attributes and latest values; the result goes into the message, an attribute or a time series. What is no number takes Failure.',
  configuration: configurationSchema,
  defaults: DEFAULTS,
  examples: [
    {
      title: 'Celsius of Fahrenheit',
      configuration: DEFAULTS,
      given: { data: '{"temperature":100}' },
      expect: { relations: ['Success'], data: '{"temperature":100,"temperatureCelsius":37.78}' },
    },
    {
      title: 'a division by zero',
      configuration: { ...DEFAULTS, customFunction: '1 / x' },
      given: { data: '{"temperature":0}' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['attributes', 'history', 'telemetry'],
  effects: true,
  create: (configuration, context) => {
    checkCount(configuration)
    const run = calculation(configuration, context)
    const isStored = [...configuration.arguments, configuration.result].some(({ type }) =>
      ['ATTRIBUTE', 'TIME_SERIES'].includes(type),
    )
    const turn = (message: Message): string => `${message.tenantId} ${message.originator.id}`
    return {
      handle: async (message) => ({
        message: await (isStored ? inTurn(turn(message), context.clock, () => run(message)) : run(message)),
        relations: ['Success'],
      }),
    }
  },
})

function checkCount({ operation, arguments: given, customFunction }: Configuration): void {
  const { length } = given
  if (operation === 'CUSTOM') {
    requireField(length <= MAX_ARGUMENTS, NAME, 'arguments', `expected at most ${MAX_ARGUMENTS}`)
    const text = customFunction ?? ''
    const isFitting = text.trim() !== '' && text.length <= LONGEST_EXPRESSION
    requireField(isFitting, NAME, 'customFunction', `expected 1 to ${LONGEST_EXPRESSION} characters`)
    return
  }
  const { values } = OPERATIONS[operation]
  requireField(length === values, NAME, 'arguments', `${operation} takes ${values}`)
}

/** The last calculation of each originator that has one under way. */
const underWay = new Map<string, Promise<unknown>>()

async function inTurn<Result>(key: string, clock: Clock, run: () => Promise<Result>): Promise<Result> {
  const before = underWay.get(key)
  // What became of the one before is told to its own message.
  const mine = before === undefined ? run() : ended(before, clock).then(run)
  underWay.set(key, mine)
  try {
    return await mine
  } finally {
    if (underWay.get(key) === mine) underWay.delete(key)
  }
}

/** One that never ends must not hold up those behind it. */
function ended(work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const deadline = clock.after(LONGEST_TURN_MS, resolve)
    const end = (): void => {
      deadline.cancel()
      resolve()
    }
    work.then(end, end)
  })
}

function calculation(configuration: Configuration, context: Context): (message: Message) => Promise<Message> {
  const sources = configuration.arguments.map((one) => ({ one, key: pattern(one.key) }))
  const formula = formulaOf(configuration)
  const store = resultStore(configuration, context)
  return async (message) => {
    const values = await Promise.all(sources.map(({ one, key }) => valueOf(one, key, message, context)))
    const result = formula(values)
    if (!Number.isFinite(result)) throw NodeErrors.VALUE_INVALID({ key: 'result', expected: 'a finite number' })
    return store(message, result)
  }
}

/** The expression is read with the first message: one that is none fails messages, as in the reference, and not the node. */
function formulaOf({
  operation,
  arguments: given,
  customFunction,
}: Configuration): (values: readonly number[]) => number {
  if (operation !== 'CUSTOM') {
    const { calculate } = OPERATIONS[operation]
    return ([x = Number.NaN, y = Number.NaN]) => calculate(x, y)
  }
  const names = given.map(({ name }, index) => name ?? `x${index}`)
  let expression: Expression | undefined
  return (values) => {
    expression ??= parseExpression(customFunction ?? '', new Set(names))
    return expression(new Map(names.map((name, index) => [name, values[index] ?? Number.NaN])))
  }
}

async function valueOf(argument: Argument, key: Pattern, message: Message, { services }: Context): Promise<number> {
  const { type } = argument
  if (type === 'CONSTANT') return numberOf(argument.key, argument.key)
  const name = key(message)
  const found = await rawValue(argument, name, message, services)
  if (found !== undefined && found !== null) return numberOf(found, name)
  const fallback = argument.defaultValue ?? undefined
  if (fallback === undefined) throw NodeErrors.VALUE_MISSING({ key: name, place: type })
  return fallback
}

async function rawValue(
  { type, attributeScope }: Argument,
  key: string,
  message: Message,
  { attributes, history }: Context['services'],
): Promise<JsonValue | undefined> {
  const { originator, metadata } = message
  switch (type) {
    case 'MESSAGE_BODY': {
      const body = bodyObject(message)
      const value = Object.hasOwn(body, key) ? body[key] : undefined
      return typeof value === 'string' && value.trim() === '' ? undefined : value
    }
    case 'MESSAGE_METADATA':
      return metadata[key] === '' ? undefined : metadata[key]
    case 'ATTRIBUTE':
      return (await attributes.find(originator, attributeScope ?? 'SERVER_SCOPE', [key]))[0]?.value
    case 'TIME_SERIES':
      return (await history.latest(originator, [key]))[0]?.value
    case 'CONSTANT':
      return key
  }
}

/** Texts of numbers count as numbers. Throws `VALUE_INVALID`. */
function numberOf(value: JsonValue, key: string): number {
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  const isNumeric = typeof value === 'number' || typeof value === 'bigint'
  const number = typeof value === 'string' ? numberOfText(value) : isNumeric ? Number(value) : Number.NaN
  if (Number.isNaN(number)) throw NodeErrors.VALUE_INVALID({ key, expected: 'a number' })
  return number
}

/** Puts the result where it belongs; resolves with the message that goes on. */
function resultStore(
  { operation, result, arguments: given }: Configuration,
  context: Context,
): (message: Message, value: number) => Promise<Message> {
  const { type, key, resultValuePrecision: digits } = result
  const isWhole = digits === 0 || WHOLE_RESULTS.includes(operation)
  const rounded = (value: number): TypedValue =>
    isWhole ? { type: 'LONG', value: Math.trunc(value) + 0 } : { type: 'DOUBLE', value: halfUp(value, digits) }
  const nameOf = pattern(key)
  const readsBody = given.some((one) => one.type === 'MESSAGE_BODY')
  // Only what is stored may be added besides.
  const isStored = type === 'ATTRIBUTE' || type === 'TIME_SERIES'
  return async (message, value) => {
    const shown = rounded(value)
    if (type === 'ATTRIBUTE') await saveAttribute(message, { key, ...shown }, result.attributeScope, context)
    // A series keeps the value with all its digits (the reference's way).
    if (type === 'TIME_SERIES') await savePoint(message, { key, type: 'DOUBLE', value }, context)
    let changed = message
    if (type === 'MESSAGE_BODY' || (isStored && result.addToBody)) {
      if (type !== 'MESSAGE_BODY' && !readsBody)
        throw NodeErrors.VALUE_MISSING({ key: 'argument', place: 'MESSAGE_BODY' })
      changed = withBody(changed, mergedMembers(bodyObject(message), [[nameOf(message), jsonOf(shown)]]))
    }
    if (type === 'MESSAGE_METADATA' || (isStored && result.addToMetadata)) {
      changed = withMetadata(changed, [[nameOf(message), valueText(shown)]])
    }
    return changed
  }
}

function jsonOf(value: TypedValue): JsonValue {
  return value.type === 'DOUBLE' && Number.isInteger(value.value) ? new WholeDouble(value.value) : value.value
}

async function saveAttribute(
  message: Message,
  entry: Entry,
  scope: (typeof ATTRIBUTE_SCOPES)[number] | null | undefined,
  { services }: Context,
): Promise<void> {
  await services.attributes.save({
    tenantId: message.tenantId,
    entity: message.originator,
    isOwn: message.hasOwnOriginator,
    scope: scope ?? 'SERVER_SCOPE',
    entries: [entry],
    sequence: message.sequence,
    store: true,
    notify: true,
    notifyDevice: false,
  })
}

function savePoint(message: Message, entry: Entry, { services, clock }: Context): Promise<void> {
  return new Promise((resolve, reject) => {
    services.telemetry.save(
      {
        tenantId: message.tenantId,
        entity: message.originator,
        isOwn: message.hasOwnOriginator,
        points: [{ ...entry, ts: clock.now() }],
        ttlSeconds: 0,
        sequence: message.sequence,
        history: true,
        latest: true,
        notify: true,
      },
      (error) => (error === undefined ? resolve() : reject(error)),
    )
  })
}
