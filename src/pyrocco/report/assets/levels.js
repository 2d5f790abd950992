// The blocks and the distinctive columns at one level of the rows and one level of the columns.
class Level {
  constructor(levels, [i, j], rows, columns) {
    const pair = levels.pairs[i][j];
    this.means = pair.means;
    this.hasStatistics = Boolean(pair.blocks);
    if (this.hasStatistics) [this.rest, this.effect, this.p, this.homogeneity] = pair.blocks;
    if (this.hasStatistics) this.membership = [rows.meanMembership(), columns.meanMembership()];
    // All levels of the columns list the same columns; their p-values differ.
    this.distinctive = (levels.distinctive[i] || []).map(([row, column, mean, rest, effect, homogeneity], line) => ({
      row, column, mean, rest, effect, homogeneity, p: pair.p[line], membership: (this.membership[0][row] + columns.membership[column]) / 2,
    }));
  }

  // What is known of a block, or null.
  block(row, column) {
    if (!this.hasStatistics) return null;
    const at = row * this.means[0].length + column;
    const membership = (this.membership[0][row] + this.membership[1][column]) / 2;
    return { mean: this.means[row][column], rest: this.rest[at], effect: this.effect[at], p: this.p[at], homogeneity: this.homogeneity[at], membership };
  }
}

// A slider for each side. `apply` is called with the positions of both, and returns nothing.
function setUpLevels(data, sides, apply) {
  const chosen = [...data.fitted];
  const sliders = sides.map((side) => find(`${side.kind}-level`));
  const numbers = [data.levels.rows, data.levels.columns].map((levels) => levels.map((clusters) => Math.max(...clusters) + 1));
  const show = () => {
    sliders.forEach((slider, k) => {
      const number = numbers[k][chosen[k]];
      const isFit = chosen[k] === data.fitted[k] ? " (as fitted)" : "";
      slider.value = String(chosen[k]);
      slider.setAttribute("aria-valuetext", `${count(number, `${sides[k].noun} cluster`)}${isFit}`);
      find(`${sides[k].kind}-level-text`).textContent = `${number.toLocaleString("en")}${isFit}`;
    });
    find("level-fit").disabled = chosen.every((level, k) => level === data.fitted[k]);
    apply(chosen);
  };
  sliders.forEach((slider, k) => {
    slider.max = String(numbers[k].length - 1);
    slider.disabled = numbers[k].length === 1;
    slider.addEventListener("input", () => { chosen[k] = Number(slider.value); show(); });
  });
  find("level-fit").addEventListener("click", () => { chosen.splice(0, 2, ...data.fitted); show(); sliders[0].focus(); });
  show();
}
