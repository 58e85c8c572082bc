/** Every rule node of the program, and the one that writes the log of runs. */
import { catalogue as program } from '../../../nodes/catalogue.ts'
import type { NodeCatalogue } from '../../../engine/rulechain/node.ts'
import { runLogNode } from './run-log-node.ts'

export * from '../../../nodes/catalogue.ts'

export const catalogue: NodeCatalogue = {
  find: (type) => (type === runLogNode.type ? runLogNode : program.find(type)),
  all: () => [...program.all(), runLogNode],
}
