/** Raises a stored node configuration to its type's present version (`rule-engine.md` 3.5). */
import type { JsonObject } from '../../model/json.ts'
import type { NodeDefinition } from './node.ts'

export interface VersionedConfiguration {
  readonly configuration: JsonObject
  readonly configurationVersion: number
}

/**
 * The configuration at the type's version. Where an upgrade step fails, the configuration stays if it parses as it is, and
 * the type's default takes its place otherwise, and that of an absent one; a configuration already at the version (or ahead of it) is untouched.
 */
export function currentConfiguration(
  definition: NodeDefinition,
  stored: VersionedConfiguration,
): VersionedConfiguration {
  if (stored.configurationVersion >= definition.configurationVersion) return stored
  return {
    configuration: upgraded(definition, stored),
    configurationVersion: definition.configurationVersion,
  }
}

function upgraded(definition: NodeDefinition, stored: VersionedConfiguration): JsonObject {
  if (definition.upgrade === undefined) return stored.configuration
  // What a file leaves out or sets to null comes as an empty object.
  if (Object.keys(stored.configuration).length === 0) return definition.defaultConfiguration
  try {
    return definition.upgrade(stored.configuration, stored.configurationVersion)
  } catch {
    // The reference's rule: a failed upgrade keeps what still parses; what does not parse becomes the default. It parses where members are missing.
    try {
      definition.check({ ...definition.defaultConfiguration, ...stored.configuration })
      return stored.configuration
    } catch {
      return definition.defaultConfiguration
    }
  }
}
