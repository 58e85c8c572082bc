/** What all script nodes share: the configuration with both bodies, and an instance in the language that was chosen. */
import { z } from 'zod'
import type { JsonObject } from '../model/json.ts'
import type { Message } from '../model/message.ts'
import type { NodeContext, NodeInstance, NodeOutput } from '../engine/rulechain/node.ts'
import type { CompiledScript, ScriptKind, ScriptResults } from '../engine/script/script.ts'
import { ofField, orZero } from './define-node.ts'

/** `scriptLang` null means JavaScript (`rule-engine.md` 6.1). */
export const scriptConfiguration = z.looseObject({
  scriptLang: orZero(z.enum(['TBEL', 'JS']), 'JS').meta({
    title: 'Language',
    description: 'TBEL runs inline, JS on the worker pool.',
  }),
  jsScript: orZero(z.string(), '').meta({
    title: 'JavaScript',
    description: 'Function body; arguments msg, metadata, msgType.',
  }),
  tbelScript: orZero(z.string(), '').meta({
    title: 'TBEL',
    description: 'Function body; arguments msg, metadata, msgType.',
  }),
})

export type ScriptConfiguration = z.output<typeof scriptConfiguration>

export function scriptDefaults(jsScript: string, tbelScript: string = jsScript): JsonObject {
  return { scriptLang: 'TBEL', jsScript, tbelScript }
}

export function scriptBody(configuration: ScriptConfiguration): string {
  return configuration[scriptField(configuration)]
}

/** Where the chosen script stands. */
export function scriptField({ scriptLang }: Pick<ScriptConfiguration, 'scriptLang'>): 'tbelScript' | 'jsScript' {
  return scriptLang === 'TBEL' ? 'tbelScript' : 'jsScript'
}

/**
 * Compiles the chosen script; its result becomes the node's output through `outputOf`. A language that runs inline makes a
 * synchronous node, one on the pool a batch-aware node. Throws `FIELD_INVALID` for a script that does not compile.
 */
export async function scriptInstance<Kind extends ScriptKind>(
  kind: Kind,
  configuration: ScriptConfiguration,
  context: NodeContext<'scripts'>,
  outputOf: (message: Message, value: ScriptResults[Kind]) => NodeOutput,
): Promise<NodeInstance> {
  const script = await ofField(scriptField(configuration), () =>
    context.services.scripts.compile({
      language: configuration.scriptLang,
      kind,
      body: scriptBody(configuration),
      tenantId: context.tenantId,
      ownerId: context.ruleNodeId,
      ownerName: context.ruleNodeName,
      ruleChainId: context.ruleChainId,
      ruleChainName: context.ruleChainName,
    }),
  )
  const { run } = script
  if (run === undefined) return batchInstance(script, outputOf)
  return { handle: (message) => outputOf(message, run(message)), close: () => script.close() }
}

function batchInstance<Kind extends ScriptKind>(
  script: CompiledScript<Kind>,
  outputOf: (message: Message, value: ScriptResults[Kind]) => NodeOutput,
): NodeInstance {
  return {
    handleBatch: (messages, result) =>
      script.runBatch(messages, {
        value: (index, value) => {
          const message = messages[index]
          if (message === undefined) return
          try {
            result.emit(index, outputOf(message, value))
          } catch (error) {
            result.fail(index, error instanceof Error ? error : new Error(String(error)))
          }
        },
        error: (index, error) => result.fail(index, error),
      }),
    close: () => script.close(),
  }
}
