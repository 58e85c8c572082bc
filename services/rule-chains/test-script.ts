/** Runs a script of a rule node once, with a message that a user gives, in the sandbox and under the limits of all scripts. Source: `rest-api.md` 8.3. */
import { z } from 'zod'
import { withArgumentNames } from '../../engine/script/argument-names.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type {
  ScriptHost,
  ScriptKind,
  ScriptLanguage,
  ScriptResults,
  TransformedMessage,
} from '../../engine/script/script.ts'
import { RuleChainErrors } from './errors.ts'

const VARIABLE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u
const text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

export const scriptTest = z.object({
  script: z.string(),
  scriptType: z.string(),
  /** What the script calls the message, its metadata and its type. */
  argNames: z.array(z.string().regex(VARIABLE, 'the name of a variable is expected')).max(3).nullish(),
  msg: z.string(),
  metadata: z.record(z.string(), text).nullish(),
  msgType: z.string(),
})
export type ScriptTest = z.infer<typeof scriptTest>

/** `output` is what the script made, `error` what it failed for; one of them is ''. */
export interface ScriptTestResult {
  readonly output: string
  readonly error: string
}

export interface ScriptTestParts {
  readonly scripts: ScriptHost
  readonly clock: Clock
  readonly random: Random
}

/** Throws `retryable` errors where the sandbox can not be had; what the script itself fails for is the answer. */
export async function testScript(
  test: ScriptTest,
  language: ScriptLanguage,
  tenantId: string,
  parts: ScriptTestParts,
): Promise<ScriptTestResult> {
  const message = new Message({
    ...{ id: parts.random.uuid(), ts: parts.clock.now(), type: test.msgType, tenantId },
    originator: entityId('TENANT', NULL_UUID),
    ...{ metadata: test.metadata ?? {}, data: test.msg },
  })
  const run = <Kind extends ScriptKind>(kind: Kind): Promise<ScriptResults[Kind]> =>
    runOnce(kind, test, language, message, parts.scripts)
  try {
    return { output: await outputOf(test.scriptType, message, run), error: '' }
  } catch (error) {
    if (!isMillraceError(error) || error.kind === 'retryable') throw error
    return { output: '', error: errorText(error) }
  }
}

async function outputOf(
  type: string,
  message: Message,
  run: <Kind extends ScriptKind>(kind: Kind) => Promise<ScriptResults[Kind]>,
): Promise<string> {
  switch (type) {
    case 'filter':
      return String(await run('filter'))
    case 'switch':
      return stringifyJson([...(await run('switch'))])
    case 'generate':
      return stringifyJson(messageJson(await run('generate'), message))
    case 'update': {
      const made = (await run('transform')).map((each) => messageJson(each, message))
      const [only] = made
      return stringifyJson(made.length === 1 && only !== undefined ? only : made)
    }
    case 'json':
      return run('json')
    case 'string':
      return run('log')
    default:
      throw RuleChainErrors.SCRIPT_TYPE({ type })
  }
}

async function runOnce<Kind extends ScriptKind>(
  kind: Kind,
  { script: source, argNames }: ScriptTest,
  language: ScriptLanguage,
  message: Message,
  scripts: ScriptHost,
): Promise<ScriptResults[Kind]> {
  const { tenantId } = message
  const body = withArgumentNames(source, argNames ?? [])
  const script = await scripts.compile({ language, kind, body, tenantId, ownerId: 'script test' })
  try {
    return await new Promise<ScriptResults[Kind]>((resolve, reject) => {
      const ended = script.runBatch([message], {
        value: (_index, value) => resolve(value),
        error: (_index, error) => reject(error),
      })
      ended?.catch(reject)
    })
  } finally {
    script.close()
  }
}

function messageJson({ data, metadata, type }: TransformedMessage, message: Message): JsonObject {
  return {
    msg: parseJson(data ?? message.data),
    metadata: { ...(metadata ?? message.metadata) },
    msgType: type ?? message.type,
  }
}
