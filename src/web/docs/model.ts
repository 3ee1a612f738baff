/** The parts of an OpenAPI document that the page shows. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
};

export type Example = { readonly summary?: string; readonly value: unknown };
export type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly examples?: Readonly<Record<string, Example>> }>
>;
export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
};
export type Answer = { readonly description: string; readonly content?: Content };

export type Operation = {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
};

export type ApiDocument = {
  readonly info: { readonly title: string; readonly description?: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
type PathItem = Readonly<Partial<Record<Method, Operation>>> & {
  readonly servers?: readonly { readonly url: string }[];
};

const METHODS = ['get', 'post', 'put', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** One route of the document with the URL that its path is added to. */
export type Route = {
  readonly method: Method;
  readonly path: string;
  readonly baseUrl: string;
  readonly operation: Operation;
};

/** Every route, in the document's order. `origin` stands before server URLs that are paths only. */
export function routesOf(document: ApiDocument, origin: string): Route[] {
  const absolute = (url: string): string => new URL(url, origin).href.replace(/(?<!\/)\/+$/, '');
  const usual = document.servers[0]?.url ?? '/';
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation
        ? [{ method, path, baseUrl: absolute(item.servers?.[0]?.url ?? usual), operation }]
        : [];
    }),
  );
}

/** The name at the end of a reference. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

/** The schema to which a reference leads. */
export function resolve(document: ApiDocument, schema: Schema): Schema {
  return (schema.$ref === undefined ? undefined : document.components.schemas[nameOf(schema.$ref)]) ?? schema;
}

/** The first example of the JSON form. */
export function exampleOf(content: Content | undefined): unknown {
  return Object.values(content?.['application/json']?.examples ?? {})[0]?.value;
}

/** Where the section of a tag stands on the reference. */
export function anchorOfTag(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}
