import { render } from "preact";
import { Root } from "./app";

render(<Root />, document.getElementById("page") as HTMLElement);
