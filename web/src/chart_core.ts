// chart_core.ts: uPlot and its styles, as a chunk of their own.
import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';

export default uPlot;
