/** `npm start -- config` and `--help`, and the settings' reference page: all from the one schema. */
import { settingsInForce, type Environment, type SettingInForce } from './read.ts'

/** Every setting with its present value, unit, source and effect, for a terminal. */
export function configText(environment: Environment): string {
  const lines: string[] = []
  for (const [group, settings] of byGroup(settingsInForce(environment))) {
    lines.push('', group)
    for (const { setting, shown, source } of settings) {
      const unit = setting.unit === undefined ? '' : ` (${setting.unit})`
      lines.push(`  ${setting.name}=${shown}${unit}  [${source}]`, `      ${setting.description}`)
    }
  }
  return `${lines.slice(1).join('\n')}\n`
}

/** The reference page; made by `npm run docs`, checked for drift by a test. */
export function settingsPage(): string {
  const lines = [
    '<!-- Made from config/settings.ts by `npm run docs`: do not edit. -->',
    '# Settings',
    '',
    'Environment variables. `npm start -- config` shows the values in force and their sources. A start that refuses a value says what is allowed. Port 0 picks a free one.',
  ]
  for (const [group, settings] of byGroup(settingsInForce({}))) {
    lines.push('', `## ${group}`, '', '| name | default, allowed | effect |', '|---|---|---|')
    for (const { setting, shown } of settings) {
      const unit = setting.unit === undefined ? '' : ` ${setting.unit}`
      const values = setting.values === '' ? '' : `; ${setting.values}`
      lines.push(`| \`${setting.name}\` | \`${shown}\`${unit}${values} | ${setting.description} |`)
    }
  }
  return `${lines.join('\n')}\n`
}

function byGroup(settings: readonly SettingInForce[]): Map<string, SettingInForce[]> {
  const groups = new Map<string, SettingInForce[]>()
  for (const entry of settings) {
    const group = groups.get(entry.setting.group)
    if (group === undefined) groups.set(entry.setting.group, [entry])
    else group.push(entry)
  }
  return groups
}
