/** The form of each type of calculated field. */
import { keyOptions } from './keys.js'

/** @typedef {Record<string, any>} Json */
/** Of a type's form. @typedef {{ rows: readonly Node[], configuration: () => Json | Promise<Json>, trial?: () => import('./trial.js').Trial }} Editor */
/** Whose it is, and the keys that are offered. @typedef {{ owner: import('../owner.js').EntityId, keys: import('./keys.js').KeyOptions }} Surroundings */

/** Undefined where no form shows all of it: then there is its JSON. @param {Json} configuration @param {import('../owner.js').EntityId} owner @returns {Promise<Editor | undefined>} */
export async function editorOf(configuration, owner) {
  const around = { owner, keys: keyOptions(owner) }
  switch (configuration['type']) {
    case 'SIMPLE':
    case 'SCRIPT':
      return (await import('./formula-form.js')).formulaForm(configuration, around)
    case 'ALARM':
      return (await import('../alarm-rule-form.js')).alarmRuleForm(configuration, around)
    case 'GEOFENCING':
      return (await import('./zone-form.js')).zoneForm(configuration, around)
    case 'PROPAGATION':
      return (await import('./propagation-form.js')).propagationForm(configuration, around)
    case 'RELATED_ENTITIES_AGGREGATION':
      return (await import('./figures-form.js')).relatedFiguresForm(configuration, around)
    case 'ENTITY_AGGREGATION':
      return (await import('./figures-form.js')).intervalFiguresForm(configuration, around)
    default:
      return undefined
  }
}
