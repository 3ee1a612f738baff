const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', items: text, minItems: 1 };
const duration = { type: 'string', pattern: '^[1-9][0-9]*(s|m)$' };
const named = (value: object) => ({
  type: 'object',
  propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' },
  additionalProperties: value,
});
const closed = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

/**
 * The part of the Compose Specification that our file uses, written by hand and closed: a misspelt
 * or new member fails. Values are narrower than the specification where it allows several spellings;
 * an environment value must be text, because YAML would make a boolean or an octal number of it.
 */
export const COMPOSE_SCHEMA = {
  ...closed(
    {
      name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]*$' },
      services: named({ $ref: '#/definitions/service' }),
      networks: named(
        closed({
          internal: { type: 'boolean' },
          ipam: closed(
            {
              config: {
                type: 'array',
                items: closed({ subnet: text, gateway: text }, ['subnet', 'gateway']),
                minItems: 1,
              },
            },
            ['config'],
          ),
        }),
      ),
      volumes: named(closed({})),
      secrets: named(closed({ file: text }, ['file'])),
    },
    ['name', 'services'],
  ),
  patternProperties: { '^x-': {} },
  definitions: {
    service: closed(
      {
        image: text,
        build: text,
        restart: { type: 'string', pattern: '^(no|always|unless-stopped|on-failure(:[1-9][0-9]*)?)$' },
        init: { type: 'boolean' },
        read_only: { type: 'boolean' },
        tmpfs: texts,
        cap_drop: texts,
        cap_add: texts,
        mem_limit: { type: 'string', pattern: '^[1-9][0-9]*(m|g)$' },
        cpus: { type: 'number', exclusiveMinimum: 0, maximum: 2 },
        pids_limit: { type: 'integer', minimum: 50 },
        security_opt: texts,
        networks: texts,
        stop_grace_period: duration,
        shm_size: { type: 'string', pattern: '^[1-9][0-9]*(k|m|g)b$' },
        logging: closed({ driver: text, options: named(text) }, ['driver']),
        env_file: texts,
        environment: named({ type: 'string' }),
        volumes: texts,
        ports: texts,
        secrets: texts,
        profiles: texts,
        entrypoint: texts,
        command: texts,
        depends_on: named(
          closed(
            { condition: { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] } },
            ['condition'],
          ),
        ),
        healthcheck: closed(
          {
            test: { ...texts, items: [{ enum: ['CMD', 'CMD-SHELL'] }], additionalItems: text },
            interval: duration,
            timeout: duration,
            retries: { type: 'integer', minimum: 1 },
            start_period: duration,
          },
          ['test'],
        ),
      },
      ['image'],
    ),
  },
};
