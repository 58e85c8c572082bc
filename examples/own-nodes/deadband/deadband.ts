/**
 * Lets a message pass when a value left the band around the one that passed last. Keeps one number per originator, durably: a restart
 * forgets nothing, and a message that comes again goes the same way. `docs/guides/own-nodes.md` walks through it.
 */
import type { NodeKit, OwnNodes } from '../../../nodes/own-nodes.ts'

const ownNodes: OwnNodes = (kit) => [deadband(kit)]
export default ownNodes

function deadband({ defineNode, z, bodyObject, numberOf, refuse }: NodeKit) {
  return defineNode({
    type: 'com.example.Deadband',
    name: 'deadband',
    category: 'FILTER',
    relations: ['True', 'False'],
    description: 'True where the value is farther from the one that passed last than the threshold.',
    configuration: z.strictObject({
      key: z.string().min(1).max(255).meta({ title: 'Key', description: 'Member of the body to watch.' }),
      threshold: z.number().positive().meta({ title: 'Threshold', description: 'Smaller changes do not pass.' }),
    }),
    defaults: { key: 'temperature', threshold: 1 },
    editor: { icon: 'filter_alt' },
    examples: [
      {
        title: 'the first value passes',
        configuration: { key: 'temperature', threshold: 2 },
        given: { data: '{"temperature":20}' },
        expect: { relations: ['True'], data: '{"temperature":20}' },
      },
      {
        title: 'a value that is no number fails',
        configuration: { key: 'temperature', threshold: 2 },
        given: { data: '{"temperature":"warm"}' },
        expect: { relations: ['Failure'] },
      },
    ],
    uses: ['state'],
    create: ({ key, threshold }, { services: { state } }) =>
      state.keyed<{ passed: number }, undefined>({
        per: 'originator',
        parse: (stored) => z.object({ passed: z.number() }).parse(stored),
        handle(turn, message) {
          const value = numberOf(bodyObject(message)[key])
          if (value === undefined) throw refuse(`'${key}' is no number`)
          if (turn.state !== undefined && Math.abs(value - turn.state.passed) <= threshold) return 'False'
          turn.set({ passed: value })
          return 'True'
        },
      }),
  })
}
