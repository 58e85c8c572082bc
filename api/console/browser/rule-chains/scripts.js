/** Which nodes have scripts, and what these are handed and answer. */

/**
 * @typedef {object} ScriptKind
 * @property {string} type as `POST /api/ruleChain/testScript` names it
 * @property {readonly string[]} argNames
 * @property {string} answers
 * @property {{ TBEL: string, JS: string }} members of the configuration
 */

const MEMBERS = { TBEL: 'tbelScript', JS: 'jsScript' }
const DETAILS = { TBEL: 'alarmDetailsBuildTbel', JS: 'alarmDetailsBuildJs' }
const ARGUMENTS = ['msg', 'metadata', 'msgType']
const OF_GENERATOR = ['prevMsg', 'prevMetadata', 'prevMsgType']

/** @param {string} type @param {string} answers @param {{ TBEL: string, JS: string }} [members] @param {readonly string[]} [argNames] @returns {ScriptKind} */
function kind(type, answers, members = MEMBERS, argNames = ARGUMENTS) {
  return { type, answers, members, argNames }
}

const DETAILS_KIND = kind('json', 'the details of the alarm', DETAILS)
const PACKAGE = 'org.thingsboard.rule.engine.'

/** @type {Readonly<Record<string, ScriptKind>>} */
const KINDS = {
  'filter.TbJsFilterNode': kind('filter', 'true or false'),
  'filter.TbJsSwitchNode': kind('switch', 'a list of labels'),
  'transform.TbTransformMsgNode': kind('update', '{ msg, metadata, msgType }, or a list of such'),
  'action.TbLogNode': kind('string', 'a text'),
  'debug.TbMsgGeneratorNode': kind('generate', '{ msg, metadata, msgType }', MEMBERS, OF_GENERATOR),
  'action.TbCreateAlarmNode': DETAILS_KIND,
  'action.TbClearAlarmNode': DETAILS_KIND,
}

/** Undefined for nodes whose script can not be tried out. @param {string} type of the node @returns {ScriptKind | undefined} */
export function scriptKindOf(type) {
  return type.startsWith(PACKAGE) ? KINDS[type.slice(PACKAGE.length)] : undefined
}

/** @param {import('./graph.js').Members} configuration @returns {'TBEL' | 'JS'} as the server takes it: nothing means JavaScript */
export function languageOf(configuration) {
  return configuration['scriptLang'] === 'TBEL' ? 'TBEL' : 'JS'
}

/** The member that is not used, as another language is chosen. @param {import('./graph.js').Members} configuration @param {string} name */
export function isOtherLanguage(configuration, name) {
  if (!('scriptLang' in configuration)) return false
  const other = languageOf(configuration) === 'TBEL' ? 'JS' : 'TBEL'
  return [MEMBERS, DETAILS].some((members) => members[other] === name)
}

/** Where the error says that the script is wrong, from 1; undefined where it does not. @param {string} error */
export function lineOf(error) {
  const line = /\bline (\d+)/.exec(error)?.[1]
  return line === undefined || line === '0' ? undefined : Number(line)
}

/** From where to where a line goes. @param {string} text @param {number} line @returns {[number, number]} */
export function rangeOfLine(text, line) {
  const lines = text.split('\n')
  const begin = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  return [Math.min(begin, text.length), Math.min(begin + (lines[line - 1]?.length ?? 0), text.length)]
}
