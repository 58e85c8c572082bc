/**
 * What all commands that ask a running Millrace have in common: flags by one schema, where and as whom they ask, help, errors and exit
 * codes. A command is its usage, its flags and what it does.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { errorText } from '../model/errors.ts'
import { CommandErrors, DEFAULT_SERVER, RestSession, type Login } from './rest-session.ts'

export interface CommandOutput {
  out(line: string): void
  error(line: string): void
}

const TERMINAL: CommandOutput = {
  out: (line) => process.stdout.write(`${line}\n`),
  error: (line) => process.stderr.write(`${line}\n`),
}

export interface RestCommand<Flags extends z.ZodRawShape> {
  readonly usage: string
  /** By name without the dashes. One whose schema takes `true` has no text behind it. */
  readonly flags: z.ZodObject<Flags>
  /** What the one argument is, as in "one folder is expected"; undefined: there is none. */
  readonly argument?: string
  /** As whom unless told; default the tenant administrator of {@link DEFAULT_SERVER}. */
  readonly login?: Login
  /** Resolves with the exit code where it is another than 0. */
  readonly run: (call: RestCall<z.infer<z.ZodObject<Flags>>>) => Promise<number | void>
}

export interface RestCall<Flags> {
  readonly flags: Flags
  /** '' for a command without one. */
  readonly argument: string
  readonly output: CommandOutput
  /** Logs in. Throws UNREACHABLE, REFUSED. */
  readonly open: () => Promise<RestSession>
}

/** Resolves with the exit code. */
export async function runRestCommand<Flags extends z.ZodRawShape>(
  command: RestCommand<Flags>,
  argv: readonly string[],
  output: CommandOutput = TERMINAL,
): Promise<number> {
  try {
    const texts = textsOf(command, argv)
    if (texts.values['help'] !== true) return (await command.run({ ...callOf(command, texts), output })) ?? 0
    output.out(command.usage.trimEnd())
    return 0
  } catch (error) {
    output.error(errorText(error))
    return 1
  }
}

/** A whole number; with `least` no smaller one. */
export function wholeNumber(least = 0): z.ZodType<number> {
  const expected = least === 0 ? 'a whole number is expected' : `a whole number from ${least} is expected`
  return z
    .string()
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((value) => value >= least, expected)
}

interface Texts {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

/** Throws USAGE. */
function textsOf<Flags extends z.ZodRawShape>({ flags, usage }: RestCommand<Flags>, argv: readonly string[]): Texts {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const [name, schema] of Object.entries({ ...flags.shape, ...serverFlags(DEFAULT_SERVER).shape }))
    options[name] = { type: z.safeParse(schema, true).success ? 'boolean' : 'string' }
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw CommandErrors.USAGE({ reason: `${errorText(error)}\n\n${usage}` }, error)
  }
}

/** Throws USAGE. */
function callOf<Flags extends z.ZodRawShape>(command: RestCommand<Flags>, { values, positionals }: Texts) {
  const { argument, flags, login = DEFAULT_SERVER, usage } = command
  if (positionals.length !== (argument === undefined ? 0 : 1)) {
    const reason = argument === undefined ? `'${positionals[0]}' is not expected` : `${argument} is expected`
    throw CommandErrors.USAGE({ reason: `${reason}\n\n${usage}` })
  }
  const server = parsed(serverFlags(login), values)
  return {
    flags: parsed(flags, values),
    argument: positionals[0] ?? '',
    open: () => RestSession.open(server),
  }
}

function serverFlags({ user, password }: Login) {
  return z.object({
    url: z
      .string()
      .refine((text) => URL.canParse(text), 'an address such as http://127.0.0.1:8080 is expected')
      .default(DEFAULT_SERVER.url),
    user: z.string().default(user),
    password: z.string().default(password),
  })
}

function parsed<Flags extends z.ZodRawShape>(schema: z.ZodObject<Flags>, values: Texts['values']) {
  const result = schema.safeParse(values)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const name = issue?.path[0]
  const given = values[String(name)]
  if (name !== undefined && given === undefined)
    throw CommandErrors.USAGE({ reason: `--${String(name)} is missing (--help tells more)` }, result.error)
  const subject = name === undefined ? '' : `--${String(name)} ${String(given)}: `
  throw CommandErrors.USAGE({ reason: `${subject}${issue?.message ?? 'is not allowed'}` }, result.error)
}
