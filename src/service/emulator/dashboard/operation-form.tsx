import {
  ActionForm,
  type Data,
  type Field,
  useData,
  type Values,
} from "../../../page/parts/index.js";

import type { EmulatorControl } from "../instance/create-emulator.js";
import { type Answer, control, operations } from "./control.js";

type Operation = keyof EmulatorControl;

/** What of a JSON Schema a form shows. */
interface Schema {
  type?: string;
  format?: string;
  enum?: readonly string[];
  default?: unknown;
  /** The forms of an input, or a type and null. */
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
}

/** Fields of an operation's input, in their order, each with what its schema does not say. */
type GivenFields = Readonly<Record<string, Partial<Field>>>;

const formsOf = (schema: Schema): readonly Schema[] => schema.oneOf ?? schema.anyOf ?? [schema];

/** The fields of the input of an operation, as the emulator describes it. */
export function fieldsOf(schema: Schema, given: GivenFields): Field[] {
  const forms = formsOf(schema);
  return Object.entries(given).map(([name, more]) => {
    const property = propertyOf(schema, name);
    return {
      name,
      label: name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "),
      ...(property.enum !== undefined && { choices: property.enum }),
      ...(isNumber(property) && { type: "number", width: "short" }),
      ...(property.format === "date-time" && { type: "datetime-local" }),
      ...(typeof property.default === "string" && { placeholder: property.default }),
      isRequired: forms.every(({ required }) => required?.includes(name)),
      ...more,
    };
  });
}

function propertyOf(schema: Schema, name: string): Schema {
  return formsOf(schema).flatMap(({ properties }) => properties?.[name] ?? [])[0] ?? {};
}

const isNumber = (schema: Schema): boolean =>
  formsOf(schema).some(({ type }) => type === "integer" || type === "number");

function readText(text: string, property: Schema): unknown {
  if (isNumber(property)) return Number(text);
  if (property.type === "array") return [text];
  return property.format === "date-time" ? new Date(`${text}Z`).toISOString() : text;
}

/** The schema of an operation's input, once the emulator has described it. */
export function useInput(operation: Operation): Data<Schema> {
  return useData(
    operation,
    async () => {
      const found = (await operations()).find(({ name }) => name === operation);
      return found?.input ?? {};
    },
    0,
  );
}

interface OperationFormProps<Name extends Operation> {
  operation: Name;
  fields: GivenFields;
  /** The rest of the input. */
  given?: object;
  /** The verb on the button. */
  action: string;
  /** What came of it, in words. */
  said: (answer: Answer<Name>, values: Values) => string;
}

/** A form that calls an operation of the control API, made of the emulator's own description. */
export function OperationForm<Name extends Operation>(form: OperationFormProps<Name>) {
  const { operation, fields, given, action, said } = form;
  const { data: schema } = useInput(operation);
  if (schema === undefined) return null;
  const call = control[operation] as (input: unknown) => Promise<Answer<Name>>;
  return (
    <ActionForm
      fields={fieldsOf(schema, fields)}
      action={action}
      run={async (values) => {
        const typed = Object.entries(values).map(([name, text]) => {
          return [name, readText(text, propertyOf(schema, name))] as const;
        });
        return said(await call({ ...given, ...Object.fromEntries(typed) }), values);
      }}
    />
  );
}
