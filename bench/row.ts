/** One line of a bench's table. `goal` is empty where the figure is only told. */
export type Row = {
  readonly figure: string;
  readonly value: string;
  readonly goal: string;
  readonly met: boolean;
};
