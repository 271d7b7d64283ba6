import { type Json, jsonSchema } from './json-schema.ts';

type Section = 'schemas' | 'parameters' | 'headers';

/** The named parts of a document: each is described once and referred to elsewhere. */
export class Components {
  readonly #sections: Readonly<Record<Section, Map<string, Json>>> = {
    schemas: new Map(),
    parameters: new Map(),
    headers: new Map(),
  };

  /** The JSON Schema of a validating schema, with references for named schemas. */
  schema(schema: object): Json {
    return jsonSchema(schema, (name, describe) => this.#refer('schemas', name, describe));
  }

  /** A parameter or a header; `component` is its name. */
  part(
    section: 'parameters' | 'headers',
    { component, schema, ...rest }: { readonly component?: string; readonly schema: object },
  ): Json {
    const describe = () => ({ ...rest, schema: this.schema(schema) });
    return component === undefined ? describe() : this.#refer(section, component, describe);
  }

  /** `components` of the document. */
  toJson(): Json {
    return Object.fromEntries(
      Object.entries(this.#sections).map(([section, parts]) => [section, Object.fromEntries(parts)]),
    );
  }

  #refer(section: Section, name: string, describe: () => Json): Json {
    const parts = this.#sections[section];
    if (!parts.has(name)) parts.set(name, describe());
    return { $ref: `#/components/${section}/${name}` };
  }
}
