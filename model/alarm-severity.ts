/** How severe alarms are. Source: `rule-engine.md` 7.1. */

/** The most severe first. */
export const ALARM_SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING', 'INDETERMINATE'] as const
export type AlarmSeverity = (typeof ALARM_SEVERITIES)[number]
