import { entityId } from '../../../model/entity-id.ts'
import type { MakeThings } from './make-things.ts'

const reading = { t: { refEntityKey: { key: 'secret key', type: 'TS_LATEST' } } }
const condition = { type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return t > 50;' } }

export const makeCalculatedFields: MakeThings = async ({ services, tenant }, { assetId = '' }) => {
  const common = { entityId: entityId('ASSET', assetId) }
  const field = await services.calculatedFields.saveByUser(tenant, {
    ...common,
    type: 'SIMPLE',
    name: 'secret field',
    configuration: {
      type: 'SIMPLE',
      arguments: reading,
      expression: 't + 1',
      output: { type: 'TIME_SERIES', name: 'secret result' },
    },
  })
  const rule = await services.calculatedFields.saveByUser(tenant, {
    ...common,
    type: 'ALARM',
    name: 'secret rule',
    configuration: { type: 'ALARM', arguments: reading, createRules: { MAJOR: { condition } } },
  })
  return { calculatedFieldId: field.id, alarmRuleId: rule.id }
}
