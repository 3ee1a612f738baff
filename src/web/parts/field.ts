import { type Html, type HtmlValue, html, raw } from '../html.ts';

/** What a field is about; `name` is the member that is posted, and its id. */
export type Field = {
  readonly name: string;
  readonly label: HtmlValue;
  readonly hint?: HtmlValue;
  /** What was wrong with what was posted. */
  readonly error?: string | undefined;
  readonly value?: string | undefined;
  readonly required?: boolean;
};

// A field with an error asks for the focus. The first one in the page has it, by the browser's own rule and
// without script.

/** A line of text. `attributes` are our own constants, such as ` type="email"`. */
export function textField(field: Field, attributes = ''): Html {
  return around(
    field,
    html`<input id="${field.name}" name="${field.name}" value="${field.value ?? ''}"${common(field)}${raw(attributes)}>`,
  );
}

/** A password or a code: what was typed is never put back. */
export function secretField(field: Omit<Field, 'value'>, attributes: string): Html {
  return around(
    field,
    html`<input id="${field.name}" name="${field.name}"${common(field)}${raw(attributes)}>`,
  );
}

/** Several lines of text. */
export function textArea(field: Field, attributes = ''): Html {
  return around(
    field,
    html`<textarea id="${field.name}" name="${field.name}"${common(field)}${raw(attributes)}>
${field.value ?? ''}</textarea>`,
  );
}

/** One of several values. */
export function selectField(
  field: Field,
  options: readonly { readonly value: string; readonly label: string }[],
): Html {
  return around(
    field,
    html`<select id="${field.name}" name="${field.name}"${common(field)}>
${options.map(
  ({ value, label }) =>
    html`<option value="${value}"${value === (field.value ?? '') ? html` selected` : null}>${label}</option>\n`,
)}</select>`,
  );
}

/** Any number of several values, each posted as a member of its own: `name` with the value behind a dot. */
export function checkboxes(
  field: Omit<Field, 'value'>,
  options: readonly { readonly value: string; readonly label: HtmlValue; readonly checked: boolean }[],
): Html {
  return html`<fieldset class="field" id="${field.name}"${field.error === undefined ? null : html` tabindex="-1" autofocus`}${described(field)}>
<legend>${field.label}</legend>
${hint(field)}
${options.map(
  ({ value, label, checked }) =>
    html`<label class="check"><input type="checkbox" name="${field.name}.${value}" value="on"${checked ? html` checked` : null}> <span>${label}</span></label>\n`,
)}${error(field)}
</fieldset>`;
}

function around(field: Omit<Field, 'value'>, input: Html): Html {
  return html`<div class="field">
<label for="${field.name}">${field.label}</label>
${hint(field)}
${input}
${error(field)}
</div>`;
}

function common(field: Omit<Field, 'value'>): Html {
  return html`${field.required ? html` required` : null}${field.error === undefined ? null : html` aria-invalid="true" autofocus`}${described(field)}`;
}

function described({ name, hint: text, error: problem }: Omit<Field, 'value'>): Html | null {
  const ids = [
    ...(text === undefined ? [] : [`${name}-hint`]),
    ...(problem === undefined ? [] : [`${name}-error`]),
  ];
  return ids.length === 0 ? null : html` aria-describedby="${ids.join(' ')}"`;
}

function hint({ name, hint: text }: Omit<Field, 'value'>): Html | null {
  return text === undefined ? null : html`<p class="hint" id="${name}-hint">${text}</p>`;
}

function error({ name, error: problem }: Omit<Field, 'value'>): Html | null {
  return problem === undefined ? null : html`<p class="error" id="${name}-error">${problem}</p>`;
}
