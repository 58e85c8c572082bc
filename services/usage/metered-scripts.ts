/** Scripts of tenants, counted as they run; they fail once the tenant has used them up. */
import { USAGE, type UsageMeter } from '../../engine/usage/usage.ts'
import type { CompiledScript, ScriptHost, ScriptKind, ScriptLanguage } from '../../engine/script/script.ts'
import { UsageErrors } from './errors.ts'

const COUNTERS = { JS: USAGE.jsExecutions, TBEL: USAGE.tbelExecutions } as const

export function meteredScripts(host: ScriptHost, meter: UsageMeter): ScriptHost {
  return {
    compile(source) {
      const compiled = host.compile(source)
      const { tenantId, language } = source
      return compiled instanceof Promise
        ? compiled.then((script) => metered(script, tenantId, language, meter))
        : metered(compiled, tenantId, language, meter)
    },
  }
}

function metered<Kind extends ScriptKind>(
  script: CompiledScript<Kind>,
  tenantId: string,
  language: ScriptLanguage,
  meter: UsageMeter,
): CompiledScript<Kind> {
  const usage = meter.of(tenantId)
  const counter = COUNTERS[language]
  const { run } = script
  return {
    ...(run === undefined
      ? {}
      : {
          run: (message) => {
            if (usage.isDisabled(language)) throw UsageErrors.SCRIPTS({ language })
            usage.add(counter, 1)
            return run.call(script, message)
          },
        }),
    runBatch(messages, result) {
      if (!usage.isDisabled(language)) {
        usage.add(counter, messages.length)
        return script.runBatch(messages, result)
      }
      const error = UsageErrors.SCRIPTS({ language })
      for (const index of messages.keys()) result.error(index, error)
    },
    close: () => script.close(),
  }
}
