/** What a Sparkplug publish is refused for. Source: `device-api.md` 14. */
import { defineErrors } from '../../../model/errors.ts'

export const SparkplugErrors = defineErrors('sparkplug', {
  WRONG_TOPIC: { kind: 'invalid', status: 400, text: 'The topic is none of this edge node: {topic}' },
  NO_NAME: { kind: 'invalid', status: 400, text: 'A metric of a birth has no name' },
  UNKNOWN_ALIAS: { kind: 'invalid', status: 400, text: 'No birth has a metric with the alias {alias}' },
  ALIAS_REUSED: { kind: 'invalid', status: 400, text: 'Another metric of this edge node has the alias {alias}' },
  WRONG_DEATH: { kind: 'invalid', status: 400, text: 'NDEATH needs the bdSeq of the NBIRTH, and nothing else' },
  /** Of one edge node, one tenant or all. */
  TOO_MUCH_BORN: { kind: 'denied', status: 403, text: 'There is no room for the metrics of this birth' },
})
