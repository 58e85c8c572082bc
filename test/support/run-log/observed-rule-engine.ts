/** The program's rule engine, which notes the try of each message before it runs. */
import { createRuleEngine as createProgramEngine, type RuleEngine } from '../../../engine/rulechain/rule-engine.ts'
import { noteTry } from './tries.ts'

export * from '../../../engine/rulechain/rule-engine.ts'

export function createRuleEngine(options: Parameters<typeof createProgramEngine>[0]): RuleEngine {
  const engine = createProgramEngine(options)
  const process = engine.process.bind(engine)
  engine.process = (pack) => {
    for (const work of pack) noteTry(work)
    process(pack)
  }
  return engine
}
